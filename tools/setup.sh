#!/usr/bin/env bash
# Brings .venv to what a lock says, from nothing if need be. Says each step, on standard error, and only
# if there is something to do; a second call answers in milliseconds and starts no Python.
#
# Usage: tools/setup.sh run | dev        (dev holds all of run, so it serves for both)
# PYTHON  the interpreter to make .venv from (python3)
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

want=$1
python=${PYTHON:-python3}
venv=.venv
installed=$venv/.installed-lock
log=$venv/setup.log

# What is installed is known by content, not by time: a checkout changes times at will. The place counts,
# since scripts in a venv hold its absolute path, and the interpreter, since packages lie under its version.
state() { # lock name
    {
        echo "$1 $PWD $(readlink -f "$venv/bin/python" || true)"
        cat "requirements/$1.lock" pyproject.toml
    } | cksum
}

is_ready() {
    [ -x "$venv/bin/python" ] && [ -r "$installed" ] || return 1
    local have
    have=$(<"$installed")
    [ "$have" = "$(state dev)" ] || { [ "$want" = run ] && [ "$have" = "$(state run)" ]; }
}

# All that is missing in one line, so that one command mends it.
check_machine() {
    if ! command -v "$python" >/dev/null; then
        echo "Missing: $python (3.11 or newer) with venv. Install it with: apt install python3 python3-venv" >&2
        exit 1
    fi
    "$python" - <<'PY' || exit 1
import importlib.util
import sys

if sys.version_info < (3, 11):
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(
        f"Missing: Python 3.11 or newer; {sys.executable} is {found}. "
        "Name a newer one with: make PYTHON=/path/to/python3.11 …"
    )
if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
    sys.exit("Missing: python3-venv. Install it with: apt install python3-venv")
PY
}

# Output is read only if the step fails.
quietly() { # what it is, command…
    local what=$1
    shift
    if ! "$@" >>"$log" 2>&1; then
        grep -v '^WARNING' "$log" | tail -n 15 >&2
        echo "Setting up failed: $what. All of its output is in $log." >&2
        exit 1
    fi
}

main() {
    if is_ready; then
        return
    fi
    check_machine
    # Two at once would mix their packages. Where there is no flock, we trust that there are not two.
    if command -v flock >/dev/null; then
        exec 9>.venv.lock
        flock 9
        if is_ready; then
            return
        fi
    fi
    echo "Setting up, once; it takes a minute or so:" >&2

    local place
    place="$PWD $("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')"
    if [ "$(cat "$venv/.place" 2>/dev/null)" != "$place" ]; then
        rm -rf "$venv"
        mkdir "$venv"
        echo "  making $venv…" >&2
        quietly "making $venv" "$python" -m venv "$venv"
        echo "$place" >"$venv/.place"
    fi
    : >"$log"
    # Gone until all is in: a set-up that was cut short starts again.
    rm -f "$installed"
    local pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-input)
    echo "  installing $(grep -c == "requirements/$want.lock") packages into it…" >&2
    quietly "installing requirements/$want.lock" \
        "${pip[@]}" --require-hashes --no-deps -r "requirements/$want.lock"
    # Our own package needs no download: its build backend came with the lock.
    echo "  installing Dovecote itself…" >&2
    quietly "installing dovecote itself" \
        "${pip[@]}" --no-index --no-build-isolation --no-deps --editable .
    state "$want" >"$installed"
}

main
