# Sourced by the other tools: a minimal Debian file system as a cached tarball.
# shellcheck shell=bash

# Prints the path of a tarball with `suite` and `packages` (comma-separated) in it, made if need be.
# The cache is keyed by month, so that security updates arrive without anybody's doing.
rootfs_tarball() { # suite, packages
    local suite=$1 packages=$2 cache key tarball mirror root
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/dovecote
    key=$(printf '%s\n%s\n' "$(date -u +%Y-%m)" "$packages" | sha256sum | cut -c1-12)
    tarball=$cache/rootfs-$suite-$(date -u +%Y-%m)-$key.tar

    if [ -s "$tarball" ]; then
        echo "$tarball"
        return
    fi
    local tool
    for tool in debootstrap tar; do
        command -v "$tool" >/dev/null || {
            echo "Missing: $tool. Install it with: apt install $tool" >&2
            return 1
        }
    done
    if [ "$(id -u)" != 0 ]; then
        echo "debootstrap must run as root: try again with sudo." >&2
        return 1
    fi

    mirror=${MIRROR:-$(apt_mirror)}
    mkdir -p "$cache"
    # In the cache's own file system, which unlike /tmp allows devices and programs.
    root=$(mktemp -d "$cache/debootstrap.XXXXXX")
    echo "Making a minimal Debian $suite (about a minute)…" >&2
    if ! debootstrap --variant=minbase --include="$packages" "$suite" "$root/fs" ${mirror:+"$mirror"} \
        >"$root/log" 2>&1; then
        tail -n 20 "$root/log" >&2
        echo "debootstrap failed; its log is above." >&2
        rm -rf "$root"
        return 1
    fi
    strip_rootfs "$root/fs"
    # Written under another name first: a run that is stopped half-way leaves no broken tarball.
    tar -C "$root/fs" --numeric-owner --one-file-system -cf "$root/tar" .
    mv "$root/tar" "$tarball"
    rm -rf "$root"
    # Older months are of no more use.
    find "$cache" -maxdepth 1 -name "rootfs-$suite-*.tar" -mtime +45 -delete
    echo "$tarball"
}

# The mirror that this machine's apt fetches from; nothing if apt does not say, which means the default.
apt_mirror() {
    command -v apt-get >/dev/null || return 0
    # shellcheck disable=SC2016  # apt's own placeholder
    apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null |
        grep -v security | grep -m1 -i debian || true
}

# Drops what nobody reads in a container: package lists and caches, documentation, translations.
strip_rootfs() { # root
    local root=$1
    rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* \
        "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/info/* \
        "$root"/usr/share/locale/* "$root"/var/cache/debconf/*-old
    mkdir -p "$root/var/cache/apt/archives/partial" "$root/var/lib/apt/lists/partial"
}
