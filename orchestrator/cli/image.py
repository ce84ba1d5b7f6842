"""`dovecote image build`: the agent image of the docker runner, and the sandbox's programs beside it."""

import sys
from pathlib import Path
from typing import Final

from orchestrator.cli.home import open_home
from orchestrator.core.text_cleaning import clean_name
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.image import build_image

DEFAULT_BASE: Final = "dovecote-base:bookworm"


def build(home_option: Path | None, *, base: str | None) -> None:
    """Build the image that the settings name; the engine's own lines show how far it is."""
    name = open_home(home_option).settings.agent.image
    chosen = base or DEFAULT_BASE
    print(f"Building {name} on {chosen}…", file=sys.stderr)
    engine = Engine()
    try:
        image_id = build_image(engine, name=name, base=chosen, progress=_show)
    finally:
        engine.close()
    print(f"{name} is ready ({image_id[:19]}).")


def _show(line: str) -> None:
    if shown := clean_name(line):
        print(f"  {shown}", file=sys.stderr)
