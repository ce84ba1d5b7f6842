"""The files that come with Dovecote: instructions for the first groups and for new ones, and providers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TEMPLATES: Final = Path(__file__).parent / "templates"
_PROVIDERS: Final = Path(__file__).parent / "providers.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """Texts of `AGENT.md` files: of the main group, of a new group, and for all groups together."""

    main_agent_md: str
    group_agent_md: str
    global_agent_md: str


def load_shipped() -> Shipped:
    """Read from beside the code."""
    return Shipped(
        main_agent_md=_read("main.AGENT.md"),
        group_agent_md=_read("group.AGENT.md"),
        global_agent_md=_read("global.AGENT.md"),
    )


def template_for(*, is_main: bool) -> str:
    """The `AGENT.md` that a new group begins with."""
    shipped = load_shipped()
    return shipped.main_agent_md if is_main else shipped.group_agent_md


def shipped_providers() -> str:
    """The text of the `providers.toml` that others are laid over."""
    return _PROVIDERS.read_text(encoding="utf-8")


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
