"""Settings of agents that are started by others: how many, how deep, how long, and where."""

from typing import Annotated

from pydantic import AfterValidator, Field

from orchestrator.settings.section import ListOf, Number, Section, Whole


def _all_absolute(paths: tuple[str, ...]) -> tuple[str, ...]:
    if not all(path.startswith("/") and path.strip("/") and path.isprintable() for path in paths):
        raise ValueError("holds what is not the absolute path of a directory other than /")
    return paths


class SpawnSettings(Section):
    """What bounds the agents that agents start."""

    enabled: bool = Field(True, description="whether agents may start agents")
    max_depth: Whole = Field(
        2, ge=0, le=10, description="levels below the first agent of a tree; 0 is no children"
    )
    max_agents_per_tree: Whole = Field(
        10, ge=1, le=100, description="live agents of a tree, the first one too"
    )
    max_spawns_per_tree: Whole = Field(
        100, ge=1, le=100_000, description="agents that may ever be started in a tree"
    )
    per_minute: Whole = Field(
        10, ge=1, le=100_000, description="agents that one caller may start in a minute"
    )
    default_timeout_s: Number = Field(
        3600, ge=0.001, le=86_400, description="time of an agent whose caller names none"
    )
    absolute_max_timeout_s: Number = Field(86_400, ge=0.001, le=86_400, description="longest time of one")
    restart_intensity: Whole = Field(
        3, ge=0, le=100, description="restarts of one agent within `restart_window_s`; 0 is none"
    )
    restart_window_s: Number = Field(
        300, ge=1, le=86_400, description="time within which the restarts of an agent are counted"
    )

    token_in_environment: bool = Field(
        False,
        description="show an agent its session token in its environment too, as `PINOCCHIO_SESSION_TOKEN`",
    )


class WorkspaceSettings(Section):
    """Where agents may be started beside the folders of groups."""

    roots: Annotated[
        tuple[str, ...],
        AfterValidator(_all_absolute),
        ListOf(what="directories", example='["/home/me/project"]'),
    ] = Field((), description="directories that agents may be given as workspaces, with all below them")
