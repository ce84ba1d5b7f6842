"""How the channel's library is installed where Dovecote runs from; said to whoever lacks it."""

import sys
from pathlib import Path
from typing import Final

LIBMAGIC: Final = "apt install libmagic1"
"""The system library that neonize loads."""
REQUIREMENT: Final = "neonize>=0.5"
_CLONE: Final = Path(__file__).parents[3]
_LOCK: Final = Path("requirements", "whatsapp.lock")


def install_command(*, clone: Path = _CLONE, python: str = sys.executable) -> str:
    """A command line that installs it: from the hashed list of a clone, else the library by itself."""
    if (lock := clone / _LOCK).is_file():
        return f"{python} -m pip install --require-hashes -r {lock}"
    return f"{python} -m pip install '{REQUIREMENT}'"
