#!/usr/bin/env bash
# Resolves pyproject.toml into the hashed locks that the Makefile installs from.
#
# The locks name no index: whoever installs uses the index that his own pip is set to, and the hashes
# make sure that it serves the same files. `dev.lock` holds all of `run.lock` at the same versions.
#
# Usage: tools/lock.sh [--upgrade]      (without it, versions stay unless pyproject.toml rules them out)
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! uv=$(command -v uv); then
    echo "Fetching uv…" >&2
    "${PYTHON:-python3}" -m venv "$scratch/venv"
    "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check uv
    uv=$scratch/venv/bin/uv
fi

mkdir -p requirements

# The build backend is locked with the rest, so that installing our own package fetches nothing.
sed -n '/^requires = \[/s/.*\["\(.*\)"\].*/\1/p' pyproject.toml >"$scratch/build.in"

compile_into() { # the lock, then what to resolve and how
    local lock=$1
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-annotate --no-header --output-file "$lock" "$@" >/dev/null
    if grep -q '://' "$lock"; then
        echo "$lock names a URL; it must not." >&2
        exit 1
    fi
}

compile() { # name, then further arguments
    local name=$1
    shift
    compile_into "requirements/$name.lock" "$@" pyproject.toml "$scratch/build.in"
}

compile run --extra sandbox "$@"
compile dev --extra sandbox --extra dev --constraint requirements/run.lock "$@"
# What the tool server inside needs, at the versions that we run ourselves.
sed -n 's/^ *"\(mcp[^"]*\)",$/\1/p' pyproject.toml >"$scratch/mcp.in"
compile_into container/image/requirements-mcp.lock "$scratch/mcp.in" --constraint requirements/run.lock "$@"
compile whatsapp --extra sandbox --extra whatsapp --constraint requirements/run.lock "$@"
wc -l requirements/*.lock >&2
