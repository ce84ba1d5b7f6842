"""The files that come with Dovecote: instructions for the first groups and for new ones."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TEMPLATES: Final = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """Texts of `AGENT.md` files: of the main group, of all groups, and of a new group."""

    main_agent_md: str
    global_agent_md: str
    group_agent_md: str


def load_shipped() -> Shipped:
    """Read once, at the start."""
    return Shipped(
        main_agent_md=_read("main.AGENT.md"),
        global_agent_md=_read("global.AGENT.md"),
        group_agent_md=_read("group.AGENT.md"),
    )


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
