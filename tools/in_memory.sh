#!/usr/bin/env bash
# Runs pytest with its temporary files in memory, where that can be done; on the disk otherwise.
#
# On a disk a store waits at each commit, of which the tests make a great many. What is in memory is gone when
# the tests end; to look at a failed test's files, run it by .venv/bin/pytest, which uses the disk. In memory
# needs root (it mounts), 8 GiB of free memory, and an engine that sees our mounts if there is one.
#
# Usage: tools/in_memory.sh .venv/bin/python -m pytest …
set -euo pipefail
shopt -s inherit_errexit

NEEDED_KIB=$((8 * 1024 * 1024))

has_room() {
    local name size _
    while read -r name size _; do
        if [ "$name" = MemAvailable: ]; then
            [ "$size" -ge "$NEEDED_KIB" ]
            return
        fi
    done </proc/meminfo
    return 1
}

# An engine mounts what it is asked to by path: one on another machine, or in another mount namespace, would
# find empty directories.
engine_sees_our_mounts() {
    local process ours engines=0
    ours=$(readlink /proc/self/ns/mnt)
    for process in /proc/[0-9]*; do
        if [ "$(cat "$process/comm" 2>/dev/null || true)" = dockerd ]; then
            engines=$((engines + 1))
            [ "$(readlink "$process/ns/mnt" || true)" = "$ours" ] || return 1
        fi
    done
    [ "$engines" -gt 0 ] || { [ -z "${DOCKER_HOST:-}" ] && [ ! -S /var/run/docker.sock ]; }
}

place=''
child=''

clean_up() {
    if [ -n "$place" ]; then
        umount -l "$place" 2>/dev/null || true
        rmdir "$place" 2>/dev/null || true
    fi
}
trap clean_up EXIT

if [ "$(id -u)" = 0 ] && has_room && engine_sees_our_mounts; then
    # The path stays short: a socket's may have 107 characters.
    place=$(mktemp -d "${TMPDIR:-/tmp}/dv-XXXXXX")
    if mount -t tmpfs -o mode=0700,size="${NEEDED_KIB}k" tmpfs "$place" 2>/dev/null; then
        set -- "$@" --basetemp="$place/t"
    fi
fi

# In a group of its own, so that what ends us is told to the tests once, and we wait for what they clean up.
set -m
"$@" </dev/null &
child=$!
trap 'kill -INT "$child" 2>/dev/null || true' INT
trap 'kill -TERM "$child" 2>/dev/null || true' TERM HUP
status=0
wait "$child" || status=$?
while kill -0 "$child" 2>/dev/null; do
    status=0
    wait "$child" || status=$?
done
exit "$status"
