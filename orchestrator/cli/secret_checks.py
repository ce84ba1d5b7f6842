"""The doctor's look at what nobody else may read: credentials, keys, the linked account."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator.cli.findings import Finding, Patient, broken, well
from orchestrator.paths import Paths, open_mode

_WHAT: Final = "secrets"


def check_secrets(patient: Patient) -> Finding:
    """All of them belong to this user, and nobody else can read one."""
    count = 0
    try:
        for path in _private(patient.paths):
            if path.stat().st_uid != os.geteuid():
                return broken(_WHAT, f"{path} belongs to another user.", f"sudo chown $USER {path}")
            if open_mode(path):
                why = f"Other users of this machine can read {path}."
                return broken(_WHAT, f"{why} Who did may have it still.", f"chmod go-rwx {path}")
            count += path.is_file()
    except OSError as error:
        return broken(_WHAT, f"{error.filename} can't be looked at: {error.strerror}.", None)
    return well(_WHAT, f"{count} files with credentials or keys; nobody else can read one.")


def _private(paths: Paths) -> Iterator[Path]:
    """What is there of it; directories before what is in them."""
    for path in (paths.secrets, paths.keys, paths.operator_token, paths.whatsapp_session):
        if path.exists():
            yield path
    if paths.secrets.is_dir():
        yield from sorted(paths.secrets.rglob("*"))
