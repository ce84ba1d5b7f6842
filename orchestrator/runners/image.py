"""The agent image: built from what lies here, and recognised by its labels."""

import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

import docker
import docker.errors

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.version import IMAGE, VERSION
from orchestrator.contracts.wire.container_io import PROTOCOL
from orchestrator.core.text_cleaning import clean_text
from orchestrator.runners.agent_directory import (
    AgentDirectory,
    InstalledPart,
    lay_out_agents,
    outdated_parts,
)
from orchestrator.runners.agent_programs import parts_of, programs_in
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.runner_files import OLDEST_PYTHON, program_files, stamp_of, write_tree
from orchestrator.runners.tool_packages import (
    LOCK,
    VERSION_CODE,
    MinorVersion,
    lay_out_packages,
    read_version,
)

PROTOCOL_LABEL: Final = "dovecote.protocol"
WIRE_LABEL: Final = "dovecote.wire"
PROGRAMS_LABEL: Final = "dovecote.programs"
VERSION_LABEL: Final = "dovecote.version"
AGENTS_LABEL: Final = "dovecote.agents"
"""Holds which parts of agent programs are inside, as JSON."""
REBUILD: Final = "Run: dovecote image build"
# How the Dockerfile's own tests of the base begin what they say.
_BASE_WORDS: Final = "the base image has"
_TRIAL_S: Final = 60
_FOUND: Final = 200
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_DOCKERFILE: Final = Path(__file__).resolve().parents[2] / "container" / "image" / "Dockerfile"


Progress: TypeAlias = Callable[[str], None]
"""Is told each line of a build."""


class ImageState(StrEnum):
    """What an image is to this version. LEGACY: made for the seed document alone, without our labels.

    STALE: understands us, but was built from other sources. OLD: must be built again before use.
    """

    MISSING = "missing"
    OLD = "old"
    STALE = "stale"
    LEGACY = "legacy"
    OK = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamps:
    """What an image of this version carries. wire: of the words both sides share. programs: of all of it."""

    wire: str
    programs: str


def own_stamps() -> Stamps:
    """The stamps of what lies here. Reads the disk; nothing of it changes while we run."""
    return _stamps(program_files())


def image_of(own: Stamps) -> str:
    """The name of the image of files with these stamps: another checkout or version has another one."""
    return f"{IMAGE}-{own.programs}"


def own_image() -> str:
    """The name of the image of what lies here. Reads the disk."""
    return image_of(own_stamps())


def _stamps(files: Mapping[str, bytes]) -> Stamps:
    wire = {path: text for path, text in files.items() if path.startswith("orchestrator/")}
    whole = {**files, "Dockerfile": _DOCKERFILE.read_bytes(), "tools": LOCK.read_bytes()}
    return Stamps(wire=stamp_of(wire), programs=stamp_of(whole))


def state_by_labels(labels: Mapping[str, str], own: Stamps) -> ImageState:
    """What an image with these labels is, if one of ours would carry `own`."""
    if PROTOCOL_LABEL not in labels:
        return ImageState.LEGACY
    if labels[PROTOCOL_LABEL] != str(PROTOCOL) or labels.get(WIRE_LABEL) != own.wire:
        return ImageState.OLD
    is_ours = labels.get(PROGRAMS_LABEL) == own.programs and not outdated_parts(agents_inside(labels))
    return ImageState.OK if is_ours else ImageState.STALE


def agents_inside(labels: Mapping[str, str]) -> dict[str, InstalledPart]:
    """The parts of agent programs in an image with these labels; what nobody understands counts as none."""
    try:
        return {name: InstalledPart(**entry) for name, entry in json.loads(labels[AGENTS_LABEL]).items()}
    except (KeyError, ValueError, TypeError, AttributeError):
        return {}


def labels_of(client: docker.DockerClient, name: str) -> dict[str, str] | None:
    """The labels of an image; None if it is not there. Blocks."""
    try:
        return dict(client.images.get(name).labels)
    except docker.errors.ImageNotFound:
        return None


def any_is_there(client: docker.DockerClient, name: str, paths: Sequence[str]) -> bool:
    """Whether an image has something at one of these paths. Blocks."""
    trial = client.containers.create(name, network_mode="none")
    try:
        return any(_is_there(client, str(trial.id), path) for path in paths)
    finally:
        trial.remove(force=True)


def _is_there(client: docker.DockerClient, container_id: str, path: str) -> bool:
    """The package only knows how to fetch what is there; this asks for its name alone."""
    api = client.api
    place = f"{api.base_url}/v{api.api_version}/containers/{container_id}/archive"
    return bool(api.head(place, params={"path": path}, timeout=api.timeout).status_code == _FOUND)


def programs_now(client: docker.DockerClient, name: str) -> tuple[str, ...]:
    """The agent programs inside an image. Where that of other files was built last, those inside that one.

    So that the files may change without the programs being named again. Blocks.
    """
    labels = labels_of(client, name)
    if labels is None and name.startswith(f"{IMAGE}-"):
        labels = labels_of(client, IMAGE)
    return programs_in(agents_inside(labels or {}))


def image_state(client: docker.DockerClient, name: str, own: Stamps) -> ImageState:
    """Whether the image is there and fits. Blocks."""
    labels = labels_of(client, name)
    return ImageState.MISSING if labels is None else state_by_labels(labels, own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What an image is built from. programs: of agents. shared: where their parts may lie already."""

    name: str
    base: str
    programs: Sequence[str] = ()
    shared: AgentDirectory | None = None


def build_image(
    engine: Engine,
    *,
    name: str,
    base: str,
    progress: Progress,
    programs: Sequence[str] | None = None,
    shared: AgentDirectory | None = None,
) -> str:
    """Build the image `name` on `base` and return its id; each line of the build goes to `progress`.

    programs: the agent programs that are to be inside; None: those that are, see `programs_now`. Blocks for
    seconds. Needs no network if `base` is there and no program is new. Raises Unavailable with the reason.
    """
    try:
        before = engine.run(lambda client: _id_of(client, name))
        if programs is None:
            programs = engine.run(lambda client: programs_now(client, name))
        recipe = Recipe(name=name, base=base, programs=programs, shared=shared)
        made = engine.run(lambda client: _build(client, recipe, progress))
        if name == own_image():
            engine.run(lambda client: client.images.get(name).tag(IMAGE))
        if before not in (None, made):
            engine.run(lambda client: _remove_replaced(client, str(before)))
        return made
    except docker.errors.BuildError as error:
        raise Unavailable(
            f"The image {name} can't be built on {base}: {clean_text(error.msg)[:500]}.",
            code=ErrorCode.RUNNER_UNAVAILABLE,
            suggestion=(
                "Give a base image with Python 3.11 or newer, as in: dovecote image build --base "
                "python:3.12-slim; without a registry, tools/make_base_image.sh makes one."
            ),
        ) from error


def _build(client: docker.DockerClient, recipe: Recipe, progress: Progress) -> str:
    with tempfile.TemporaryDirectory(prefix="dovecote-image-") as place:
        files = program_files()
        write_tree(Path(place, "programs"), files)
        _lay_out_packages(client, recipe, Path(place), progress)
        Path(place, "Dockerfile").write_bytes(_DOCKERFILE.read_bytes())
        lines = client.api.build(
            path=place,
            tag=recipe.name,
            buildargs={"BASE": recipe.base},
            labels=_labels(recipe, _stamps(files)),
            network_mode="none",
            rm=True,
            forcerm=True,
            decode=True,
        )
        failure: str | None = None
        said = ""
        for line in lines:  # to the end even so: a half-read answer would keep its connection
            failure = failure or line.get("error")
            if text := _without_colours(str(line.get("stream") or line.get("status") or "")).strip():
                said = text if text.startswith(_BASE_WORDS) else said
                progress(text)
        if failure is not None:
            raise docker.errors.BuildError((said or _without_colours(failure)).strip().rstrip("."), iter(()))
        return str(client.images.get(recipe.name).id)


def _labels(recipe: Recipe, own: Stamps) -> dict[str, str]:
    inside = {part.name: {"version": part.version, "stamp": part.stamp} for part in parts_of(recipe.programs)}
    return {
        PROTOCOL_LABEL: str(PROTOCOL),
        WIRE_LABEL: own.wire,
        PROGRAMS_LABEL: own.programs,
        VERSION_LABEL: VERSION,
        AGENTS_LABEL: json.dumps(inside),
    }


def _lay_out_packages(client: docker.DockerClient, recipe: Recipe, place: Path, progress: Progress) -> None:
    """Put the tool server's packages and the agent programs, for the Python of the base, into `place`.

    Nothing for a base that will not do: the build itself says best what it lacks.
    """
    try:
        version = _python_of(client, recipe.base)
    except (docker.errors.APIError, ValueError):
        version = None
    if version is None or version < OLDEST_PYTHON:
        (place / "tools").mkdir()
        (place / "agents").mkdir()
    else:
        lay_out_packages(place / "tools", version)
        lay_out_agents(place / "agents", parts_of(recipe.programs), version, progress, earlier=recipe.shared)


def _python_of(client: docker.DockerClient, base: str) -> MinorVersion:
    """Raises APIError, and ValueError when its Python says nothing."""
    try:
        client.images.get(base)
    except docker.errors.ImageNotFound:
        client.images.pull(base)
    trial = client.containers.create(base, ["-c", VERSION_CODE], entrypoint="python3", network_mode="none")
    try:
        trial.start()
        trial.wait(timeout=_TRIAL_S)
        return read_version(trial.logs(stdout=True, stderr=False).decode(errors="replace"))
    finally:
        trial.remove(force=True)


def _without_colours(text: str) -> str:
    """The engine shows what a step writes to standard error in red."""
    return _COLOUR.sub("", text)


def _id_of(client: docker.DockerClient, name: str) -> str | None:
    try:
        return str(client.images.get(name).id)
    except docker.errors.ImageNotFound:
        return None


def _remove_replaced(client: docker.DockerClient, image_id: str) -> None:
    """Give back the room of the image that had the name before, unless somebody still uses it."""
    with suppress(docker.errors.APIError):
        if not client.images.get(image_id).tags:
            client.api.remove_image(image_id)
