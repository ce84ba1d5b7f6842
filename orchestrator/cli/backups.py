"""`dovecote backup` and `dovecote restore`: on the files of a home, whether it is in use or not."""

import json
import os
from pathlib import Path
from typing import Final

from orchestrator.app.parts import SystemClock
from orchestrator.cli.labels import instant
from orchestrator.cli.sent_file import shown_size
from orchestrator.commands.keeping.backups import Backup, back_up
from orchestrator.commands.keeping.restoring import restore
from orchestrator.core.text_cleaning import clean_text
from orchestrator.paths import Paths
from orchestrator.settings.loading import home_here
from orchestrator.store.backup_manifest import Manifest

_SHOWN: Final = 5


def run_backup(home_option: Path | None, target: Path | None, *, with_secrets: bool, as_json: bool) -> None:
    """Write one, read it back, and say what it does not hold. Raises DovecoteError."""
    os.umask(0o077)
    made = back_up(_paths(home_option), target, with_secrets=with_secrets, at=SystemClock().now())
    manifest = made.manifest
    if as_json:
        plain = {
            "path": str(made.path),
            "sizeBytes": made.size_bytes,
            "files": len(manifest.members),
            "schema": manifest.schema,
            "hasSecrets": manifest.has_secrets,
            "leftOutCount": manifest.left_out.count,
            "leftOut": list(manifest.left_out.paths),
        }
        print(json.dumps(plain, indent=2))
    else:
        _tell(made)


def _tell(made: Backup) -> None:
    manifest = made.manifest
    print(f"{made.path}: {_files(manifest)}, {shown_size(made.size_bytes)}, read back and whole.")
    if left := manifest.left_out.count:
        shown = ", ".join(clean_text(path) for path in manifest.left_out.paths[:_SHOWN])
        more = ", …" if left > _SHOWN else ""
        print(f"Left out, since they are no plain files with one name ({left}): {shown}{more}")
    if manifest.has_secrets:
        print("It holds your credentials and your WhatsApp account: keep it where nobody else reads.")
    else:
        print(
            "Credentials and the link to WhatsApp are not in it; --with-secrets adds those that lie in files."
        )


def _files(manifest: Manifest) -> str:
    return "1 file" if len(manifest.members) == 1 else f"{len(manifest.members)} files"


def run_restore(home_option: Path | None, source: Path) -> None:
    """Put one back and say where what was there is. Raises DovecoteError."""
    os.umask(0o077)
    paths = _paths(home_option)
    restored = restore(paths, source, at=SystemClock().now())
    manifest = restored.manifest
    print(f"{paths.home} is as it was at {instant(clean_text(manifest.made_at))}: {_files(manifest)}.")
    if restored.aside is not None:
        print(f"What was there lies in {restored.aside}; remove it when you are content.")
    if not manifest.has_secrets:
        print("Credentials are not in this backup: those of this home stay, see dovecote secret list")


def _paths(home_option: Path | None) -> Paths:
    """Its settings may be what is broken: they are not read."""
    return Paths(home=home_here(home_option))
