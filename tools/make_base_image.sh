#!/usr/bin/env bash
# Makes a small Docker base image with Python from Debian packages, for machines without a registry.
#
# debootstrap fetches a minimal system from the mirror that this machine's own apt uses; documentation,
# caches and locales are dropped; `docker import` makes an image of the rest. The file system is kept
# as a tarball, so that an engine that lost the image gets it back in seconds. Must run as root.
#
# Usage: tools/make_base_image.sh [--force]
# BASE    name of the image        (dovecote-base:<suite>)
# SUITE   Debian release           (bookworm: its Python is 3.11)
# MIRROR  where packages come from (the one of this machine's apt)
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tools/rootfs.sh
. "$here/rootfs.sh"

SUITE=${SUITE:-bookworm}
BASE=${BASE:-dovecote-base:$SUITE}
# The Python of the image, and what an agent needs to speak TLS through the egress socket.
PACKAGES=python3,ca-certificates

if [ "${1:-}" != --force ] && docker image inspect "$BASE" >/dev/null 2>&1; then
    echo "The base image $BASE is there already." >&2
    exit 0
fi

tarball=$(rootfs_tarball "$SUITE" "$PACKAGES")
echo "Importing $BASE…" >&2
# The label lets a clean-up find what we made.
docker import --change 'CMD ["/usr/bin/python3"]' --change 'ENV LANG=C.UTF-8' \
    --change "LABEL dovecote.base=$SUITE" - "$BASE" <"$tarball" >/dev/null
echo "Made $BASE ($(docker image inspect --format '{{.Size}}' "$BASE" | awk '{printf "%d MB", $1 / 1e6}'))." >&2
