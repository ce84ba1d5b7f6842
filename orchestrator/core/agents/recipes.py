"""A provider's recipe, filled in: variables and files in which places, model and address are named."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_HOME: Final = "{home}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is filled in. base_url: of the way out, for programs that call their provider through us; None:
    what names it is left out, and so is what names a placeholder then."""

    base_url: str | None
    home: str
    workspace: str
    model: str | None
    placeholder: str


def filled(templates: Mapping[str, str], recipe: Recipe) -> dict[str, str]:
    """The templates with `{base_url}`, `{home}`, `{workspace}`, `{model}`, `{placeholder}` filled in."""
    values = {
        "{home}": recipe.home,
        "{workspace}": recipe.workspace,
        "{model}": recipe.model,
        "{base_url}": recipe.base_url,
        "{placeholder}": None if recipe.base_url is None else recipe.placeholder,
    }
    found: dict[str, str] = {}
    for name, text in templates.items():
        if any(value is None and word in text for word, value in values.items()):
            continue
        for word, value in values.items():
            text = text if value is None else text.replace(word, value)
        found[name] = text
    return found


def home_directories(environment: Iterable[str], files: Iterable[str]) -> tuple[str, ...]:
    """The directories below the home that a recipe needs, by relative path, parents first."""
    named = [text.removeprefix(_HOME) for text in environment if text.startswith(_HOME)]
    holding = [path.rpartition("/")[0] for path in files]
    wanted = {".config", ".local/share", ".local/state", ".cache", *named, *holding} - {""}
    every = {
        "/".join(path.split("/")[: depth + 1]) for path in wanted for depth in range(path.count("/") + 1)
    }
    return tuple(sorted(every))
