"""`dovecote image check`: what agents find inside, under each runner of this machine."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from orchestrator.cli.home import Home, open_home
from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.runners.agent_directory import InstalledPart, current_agents, outdated_parts
from orchestrator.runners.agent_programs import OFFERED, how_to_install, programs_in
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.image import (
    REBUILD,
    ImageState,
    agents_inside,
    labels_of,
    own_image,
    own_stamps,
    state_by_labels,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What one runner's agents find. place: an image or a directory. mend: what is to be done."""

    runner: str
    place: str
    state: str
    programs: tuple[str, ...]
    versions: Mapping[str, str]
    mend: str | None


def check(home_option: Path | None, *, as_json: bool) -> int:
    """Print what is inside; 1 if something is missing or out of date."""
    home = open_home(home_option)
    found = [_in_image(home), _in_directory(home)]
    if as_json:
        print(json.dumps([asdict(each) for each in found], indent=2))
    else:
        for each in found:
            print("\n".join(_lines(each)))
        absent = [name for name in OFFERED if not any(name in each.programs for each in found)]
        if absent:
            print(f"Not installed: {', '.join(absent)}. {how_to_install(absent[0])}")
    return 0 if all(each.mend is None for each in found) else 1


def _in_image(home: Home) -> Contents:
    name = home.settings.agent.image or own_image()
    engine = Engine(home.settings.agent.engine_url)
    try:
        labels = engine.run(lambda client: labels_of(client, name))
    except (Unavailable, StartFailed) as error:
        return _contents("docker", name, f"not looked at: {error.message}", {}, None)
    finally:
        engine.close()
    if labels is None:
        return _contents("docker", name, ImageState.MISSING, {}, REBUILD)
    state = state_by_labels(labels, own_stamps())
    is_fit = state in (ImageState.OK, ImageState.LEGACY)
    return _contents("docker", name, state, agents_inside(labels), None if is_fit else REBUILD)


def _in_directory(home: Home) -> Contents:
    agents = current_agents(home.paths.programs)
    if agents is None:
        return _contents("bubblewrap", str(home.paths.programs), "no agent programs", {}, None)
    is_stale = bool(outdated_parts(agents.parts))
    state = ImageState.STALE if is_stale else ImageState.OK
    return _contents("bubblewrap", str(agents.path), state, agents.parts, REBUILD if is_stale else None)


def _contents(
    runner: str, place: str, state: str, parts: Mapping[str, InstalledPart], mend: str | None
) -> Contents:
    return Contents(
        runner=runner,
        place=place,
        state=str(state),
        programs=programs_in(parts),
        versions={name: part.version for name, part in parts.items()},
        mend=mend,
    )


def _lines(contents: Contents) -> list[str]:
    lines = [f"{contents.runner}: {contents.place}: {contents.state}"]
    lines += [f"  {name:<12} {version}" for name, version in contents.versions.items()]
    if contents.mend is not None:
        lines.append(f"  → {contents.mend}")
    return lines
