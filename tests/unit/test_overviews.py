"""Whoever reads a package's first lines is told of every module in it."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Final

import pytest

import container
import orchestrator

_NAME: Final = re.compile(r"`([a-z][a-z0-9_]*\*?)`")


def packages() -> Iterator[str]:
    """All packages of the product."""
    for top in (container, orchestrator):
        yield top.__name__
        for found in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
            if found.ispkg:
                yield found.name


def modules_of(package: ModuleType) -> list[str]:
    """What a package holds besides other packages; `__main__` is never imported."""
    found = [each.name for each in pkgutil.iter_modules(package.__path__) if not each.ispkg]
    return [each for each in found if each != "__main__"]


def unnamed(overview: str, modules: list[str]) -> list[str]:
    """The modules that an overview does not name in backticks; `acp_*` names a family."""
    names = _NAME.findall(overview)
    families = tuple(each.removesuffix("*") for each in names if each.endswith("_*"))
    return [each for each in modules if each not in names and not each.startswith(families)]


@pytest.mark.parametrize(
    ("overview", "left"),
    [
        ("`router` and `acp_*`.", []),
        ("`router` alone.", ["acp_session"]),
        ("A router, without its ticks, and `acp_*`.", ["router"]),
        ("`*` is no family.", ["router", "acp_session"]),
        ("", ["router", "acp_session"]),
    ],
)
def test_a_module_is_named_in_backticks_or_by_its_family(overview: str, left: list[str]) -> None:
    assert unnamed(overview, ["router", "acp_session"]) == left


def test_all_packages_are_looked_at() -> None:
    assert {"container.drivers", "orchestrator.channels.whatsapp", "orchestrator.core.chat"} <= set(
        packages()
    )


@pytest.mark.parametrize("name", tuple(packages()))
def test_the_overview_of_a_package_names_each_of_its_modules(name: str) -> None:
    package = importlib.import_module(name)

    assert unnamed(package.__doc__ or "", modules_of(package)) == []
