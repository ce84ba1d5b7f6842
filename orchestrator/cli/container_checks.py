"""The doctor's look at Docker: the agent image, and containers of ours that nobody minds."""

import sqlite3
from contextlib import closing
from typing import Final

import docker

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.cli.runner_checks import runner_options
from orchestrator.cli.store_checks import is_made, open_store
from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_leftovers import INSTANCE_LABEL
from orchestrator.runners.image import REBUILD, ImageState, image_state, own_image, own_stamps
from orchestrator.store.agents import LIVE
from orchestrator.store.facts import GET, HomePlace, instance_of

_IMAGE: Final = "image"
_LEFT: Final = "containers"
_SAID: Final = {
    ImageState.MISSING: "It is not there.",
    ImageState.OLD: "It was built by another version of Dovecote, and speaks other words.",
    ImageState.STALE: "It works, but was built from other files than these.",
}


def docker_findings(patient: Patient) -> list[Finding]:
    """The image fits, and no container of this home is without an agent; nothing where Docker is not used."""
    wanted = patient.settings.agent.runner
    if wanted not in ("auto", "docker"):
        return [well(_IMAGE, f"Not looked at: agent.runner is {wanted}.")]
    engine = Engine(runner_options(patient).engine_url)
    try:
        image = _image(engine, patient)
        left = _left(engine, patient)
    except (Unavailable, StartFailed) as error:
        if wanted == "docker":
            return [broken(_IMAGE, error.message, error.suggestion)]
        return [well(_IMAGE, "Not looked at, since no Docker engine answers.")]
    finally:
        engine.close()
    return [image, left]


def _image(engine: Engine, patient: Patient) -> Finding:
    name = patient.settings.agent.image or own_image()
    state = engine.run(lambda client: image_state(client, name, own_stamps()))
    if state not in _SAID:
        return well(_IMAGE, f"{name}: {state}.")
    agent = patient.settings.agent
    is_unasked_for = agent.runner == "auto" and agent.image is None
    if state is ImageState.MISSING and is_unasked_for:
        return well(_IMAGE, f"{name} is not built, so agents run without Docker.")
    mend = REBUILD.removeprefix("Run: ")
    why = f"{name}: {_SAID[state]}"
    is_needed = patient.settings.agent.runner == "docker" and state is not ImageState.STALE
    return broken(_IMAGE, why, mend) if is_needed else doubtful(_IMAGE, why, mend)


def _left(engine: Engine, patient: Patient) -> Finding:
    if not is_made(patient.paths.database):
        return well(_LEFT, "None of this home.")
    try:
        with closing(open_store(patient)) as connection:
            connection.row_factory = sqlite3.Row
            instance = instance_of(lambda name: _fact(connection, name), HomePlace.of(patient.paths.home))
            live = {row["agent_id"] for row in connection.execute(LIVE)}
    except (sqlite3.Error, OSError):
        return well(_LEFT, "Not looked at, since the store can't be read.")
    if instance is None:
        return well(_LEFT, "None of this home.")
    label = f"{INSTANCE_LABEL}={instance}"
    names = engine.run(lambda client: _names(client, label))
    strays = sorted(set(names) - live)
    if strays:
        why = f"{len(strays)} containers of this home belong to no agent that lives, such as {strays[0]}."
        return doubtful(_LEFT, why, f"docker rm -f {' '.join(strays[:5])}")
    if names and patient.pid is None:
        why = f"{len(names)} containers run without an orchestrator."
        return doubtful(_LEFT, why, "dovecote serve   (it goes on with them, or ends them)")
    return well(_LEFT, f"{len(names)} of this home; each belongs to an agent.")


def _fact(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute(GET, {"name": name}).fetchone()
    return None if row is None else str(row["value"])


def _names(client: docker.DockerClient, label: str) -> list[str]:
    found = client.api.containers(all=True, filters={"label": label})
    return [str(each["Names"][0]).lstrip("/") for each in found]
