"""Agents of one file each that misbehave, or that speak an older dialect. They import nothing of ours."""

import sys
from pathlib import Path


def raw_agent(name: str) -> tuple[str, ...]:
    """The command that runs one of them, for a runner without walls."""
    return (sys.executable, str(Path(__file__).with_name(f"{name}.py")))
