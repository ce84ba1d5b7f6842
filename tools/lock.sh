#!/usr/bin/env bash
# Resolves pyproject.toml into the hashed locks that the Makefile installs from.
#
# The locks name no index: whoever installs uses the index that his own pip is set to, and the hashes
# make sure that it serves the same files. `dev.lock` holds all of `run.lock` and
# `whatsapp.lock` at the same versions.
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
compile whatsapp --extra sandbox --extra whatsapp --constraint requirements/run.lock "$@"
compile dev --extra sandbox --extra whatsapp --extra dev --constraint requirements/whatsapp.lock "$@"
# What the tool server and the driver `acp` need inside, at the versions that we run ourselves.
sed -n 's/^ *"\(\(mcp\|agent-client-protocol\)[^"]*\)",$/\1/p' pyproject.toml >"$scratch/mcp.in"
compile_into container/image/requirements-mcp.lock "$scratch/mcp.in" --constraint requirements/run.lock "$@"
# The agent programs, each with its own list; `dovecote image build --with` installs from them.
echo 'claude-agent-sdk>=0.2.189' >"$scratch/claude.in"
compile_into container/image/requirements-claude.lock "$scratch/claude.in" \
    --constraint requirements/run.lock "$@"
# For those from npm the version stands in package.json, and is changed there.
if command -v npm >/dev/null; then
    for program in container/image/npm/*/; do
        (
            cd "$program"
            npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved \
                --no-audit --no-fund --loglevel error
            python3 - <<'PY'
import json
import pathlib

path = pathlib.Path("package-lock.json")
lock = json.loads(path.read_text())
for entry in lock["packages"].values():
    entry.pop("funding", None)  # addresses for sponsors; nothing that is installed
path.write_text(json.dumps(lock, indent=2) + "\n")
PY
        )
    done
    if grep -rq '://' container/image/npm/*/package-lock.json; then
        echo "A list below container/image/npm names a URL; it must not." >&2
        exit 1
    fi
else
    echo "There is no npm here: the lists below container/image/npm stay as they are." >&2
fi
wc -l requirements/*.lock >&2
