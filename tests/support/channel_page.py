"""The channel that a page of CONTRIBUTING shows, taken from there."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Final

PAGE: Final = Path(__file__).parents[2] / "CONTRIBUTING.md"
_HEADING: Final = "### A channel from start to end"


def code_of_page() -> str:
    """The code, as it stands there."""
    behind = PAGE.read_text(encoding="utf-8").partition(_HEADING)[2]
    return behind.partition("```python\n")[2].partition("```")[0]


def module_of_page(directory: Path) -> ModuleType:
    """The code, imported as a module of its own."""
    path = directory / "chat_server.py"
    path.write_text(code_of_page(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("chat_server", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
