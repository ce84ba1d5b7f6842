#!/usr/bin/env bash
# Runs a command in a fresh clone on a fresh machine: a minimal Debian with git, make and Python with venv.
#
# The machine is a file system of its own that is entered by pivot_root in a mount namespace and a process
# namespace (a plain chroot would forbid the user namespaces that bubblewrap needs). Kernel and network are
# the host's. How packages are reached (resolver, proxies, certificates, pip's and apt's settings) is copied
# in at run time. The clone and the place for temporary files have the same paths inside and outside, so that
# an engine on the host finds what it is asked to mount. All mounts end with the command. Must run as root.
#
# Usage: tools/fresh_machine.sh [options] -- command [argument…]
#   --with-docker-socket   the host's engine is reachable inside
#   --with-changes         the clone also gets what is not committed yet
#   --user                 the command runs as an ordinary user, not as root
#   --keep                 leave the machine's files behind and print where they are
# Example: tools/fresh_machine.sh -- bash -c "printf '@Assistant help\n' | make run"
set -euo pipefail
shopt -s inherit_errexit

tools=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tools/rootfs.sh
. "$tools/rootfs.sh"

usage() {
    sed -n '/^# Usage/,/^# Example/s/^# //p' "$tools/fresh_machine.sh" >&2
    exit 2
}

with_socket='' with_changes='' as_user='' keep=''
while [ $# -gt 0 ]; do
    case $1 in
    --with-docker-socket) with_socket=1 ;;
    --with-changes) with_changes=1 ;;
    --user) as_user=1 ;;
    --keep) keep=1 ;;
    --) shift && break ;;
    *) usage ;;
    esac
    shift
done
[ $# -gt 0 ] || usage
if [ "$(id -u)" != 0 ]; then
    echo "A machine of its own needs root: try again with sudo." >&2
    exit 1
fi

# The path stays short: a socket's may have 107 characters.
scratch=$(mktemp -d /var/tmp/dove.XXXXXX)
chmod 755 "$scratch"
# shellcheck disable=SC2329  # called by the trap
clean_up() {
    if [ -n "$keep" ]; then
        echo "The machine's files are in $scratch." >&2
    else
        # Our mounts exist in the namespace only; should one be here all the same, it is not entered.
        rm -rf --one-file-system "$scratch"
    fi
}
trap clean_up EXIT

root=$scratch/fs
clone=$scratch/repo
temporary=$scratch/t
tarball=$(rootfs_tarball "${SUITE:-bookworm}" git,make,python3,python3-venv)
mkdir "$root" "$temporary"
chmod 1777 "$temporary"
tar -C "$root" --numeric-owner -xpf "$tarball"

git clone --quiet --no-hardlinks "$tools/.." "$clone"
if [ -n "$with_changes" ]; then
    # Deleted files are listed too; tar may not find them.
    (cd "$tools/.." && git ls-files -z --cached --others --exclude-standard |
        tar -c --null --ignore-failed-read -T - -f - 2>/dev/null) | tar -C "$clone" -xf -
fi

copy_in() { # path…
    local path
    for path in "$@"; do
        [ -e "$path" ] || continue
        mkdir -p "$root$(dirname "$path")"
        rm -rf "${root:?}$path"
        # Links are followed, since what they lead to may not exist inside.
        cp -rL "$path" "$root$path" 2>/dev/null || true
    done
}
# debootstrap wrote its own list, beside which the host's would be a second one.
rm -f "$root/etc/apt/sources.list"
copy_in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/xdg/pip /etc/ssl/certs /usr/local/share/ca-certificates \
    /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/apt/keyrings \
    /etc/apt/trusted.gpg.d
inside_home=/root
if [ -n "$as_user" ]; then
    inside_home=/home/keeper
    chroot "$root" useradd --create-home --uid 1000 --shell /bin/bash keeper
fi
for settings in .config/pip .pip; do
    if [ -e "$HOME/$settings" ]; then
        mkdir -p "$root$inside_home/$(dirname "$settings")"
        cp -rL "$HOME/$settings" "$root$inside_home/$settings"
    fi
done
if [ -n "$as_user" ]; then
    chown -R 1000:1000 "$clone" "$root$inside_home"
fi

environment=(
    "HOME=$inside_home" "USER=$([ -n "$as_user" ] && echo keeper || echo root)" "TERM=${TERM:-dumb}" LANG=C.UTF-8
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    "TMPDIR=$temporary" "PYTEST_ADDOPTS=--basetemp=$temporary/p"
)
while IFS= read -r -d '' variable; do
    case $variable in
    PIP_*=* | [hH][tT][tT][pP]_*=* | [hH][tT][tT][pP][sS]_*=* | [nN][oO]_[pP]*=* | [aA][lL][lL]_[pP]*=* | \
        SSL_CERT_*=* | REQUESTS_CA_BUNDLE=* | CURL_CA_BUNDLE=* | GIT_SSL_*=* | CI=*)
        environment+=("$variable")
        ;;
    esac
done </proc/self/environ

socket=''
if [ -n "$with_socket" ]; then
    socket=${DOCKER_HOST:-unix:///var/run/docker.sock}
    socket=$(readlink -f "${socket#unix://}")
    [ -S "$socket" ] || {
        echo "There is no Docker socket at $socket; is the engine running?" >&2
        exit 1
    }
fi

# Runs as the first process of the new namespaces, until the command has ended.
# shellcheck disable=SC2329  # called by the shell inside
inside() { # root, clone, temporary, socket, user, number of variables, variables…, command…
    set -euo pipefail
    local root=$1 clone=$2 temporary=$3 socket=$4 as_user=$5 count=$6
    shift 6
    local place
    local variables=("${@:1:count}")
    shift "$count"

    # pivot_root wants the new root to be a mount.
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    for place in "$clone" "$temporary"; do
        mkdir -p "$root$place"
        mount --bind "$place" "$root$place"
    done
    if [ -n "$socket" ]; then
        : >"$root/run/docker.sock"
        mount --bind "$socket" "$root/run/docker.sock"
    fi
    cd "$root"
    # The old root is stacked upon the new one, and taken away.
    pivot_root . .
    umount -l .
    cd "$clone"

    local as=()
    if [ -n "$as_user" ]; then
        as=(setpriv --reuid 1000 --regid 1000 --clear-groups)
        if [ -n "$socket" ]; then
            as=(setpriv --reuid 1000 --regid 1000 --groups "$(stat -c %g /run/docker.sock)")
        fi
    fi
    # Not exec: this shell stays as process 1, which takes in orphans.
    local status=0
    env -i "${variables[@]}" "${as[@]}" "$@" || status=$?
    exit "$status"
}

export -f inside
status=0
# shellcheck disable=SC2016  # to be expanded by the inner shell
unshare --mount --pid --fork --kill-child --propagation private \
    bash -c 'inside "$@"' inside "$root" "$clone" "$temporary" "$socket" "$as_user" \
    "${#environment[@]}" "${environment[@]}" "$@" || status=$?
exit "$status"
