"""The doctor's checks of the walls: which runner is used and why, and which limits hold."""

import asyncio
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.contracts.errors import DovecoteError
from orchestrator.core.agents.unstartable import Need, NeedKey
from orchestrator.runners.catalog import Chosen, RunnerOptions, choose_runner
from orchestrator.runners.image import REBUILD

_SENTENCE_END: Final = re.compile(r"(?<=\.) +(?=[A-Z])")


def runner_options(patient: Patient) -> RunnerOptions:
    """What runners are made from in this home."""
    agent = patient.settings.agent
    return RunnerOptions(
        image=agent.image,
        programs_directory=patient.paths.programs,
        engine_url=agent.engine_url,
        bwrap=agent.bwrap,
        allow_unisolated=agent.allow_unisolated,
    )


def check_runner(patient: Patient) -> Finding:
    """The runner that agents would be started with now, tried, not guessed."""
    try:
        chosen, _ = asyncio.run(_look(patient))
    except DovecoteError as error:
        return broken("runner", error.message, error.suggestion)
    if chosen.runner.name == "process":
        mend = f"Install Docker, then: {REBUILD.removeprefix('Run: ')}; or install bubblewrap."
        return doubtful("runner", chosen.in_brief, " ".join((*chosen.passed_over, mend)))
    return judge_choice(chosen, patient.settings.agent.bwrap)


def judge_choice(chosen: Chosen, bwrap: Path | None) -> Finding:
    """A runner with walls, and why no better one is used: what mends that is advice, not how it stands.

    bwrap: as it is set.
    """
    if not chosen.passed_over:
        return well("runner", chosen.words)
    stands, mend = chosen.in_brief, " ".join(chosen.passed_over)
    if len(chosen.passed_over) == 1:
        # What is advised to the only reason there is needs no second telling of it.
        reason, *advice = _SENTENCE_END.split(mend, maxsplit=1)
        if advice:
            stands, mend = f"{chosen.words} {reason}", advice[0]
    if bwrap is None:
        mend += f" Or, if it is meant so, set agent.runner to {chosen.runner.name} in dovecote.toml."
    return doubtful("runner", stands, mend)


def check_enforced(patient: Patient) -> Finding:
    """Which limits of an agent hold on this machine."""
    try:
        _, limits = asyncio.run(_look(patient))
    except DovecoteError:
        return well("limits", "Not looked at, since no runner works.")
    return well("limits", limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPrograms:
    """The programs that agents of a runner find. names: of ours; None: nobody can tell.

    are_fetched: one of ours that is missing is fetched when it is first needed. missing: the keys of the
    others that were asked for and are not there.
    """

    runner: str
    names: tuple[str, ...] | None
    are_fetched: bool
    missing: frozenset[NeedKey]


def installed_programs(patient: Patient, others: Collection[Need]) -> InstalledPrograms | None:
    """The programs that an agent would find now; None where no runner works."""
    try:
        return asyncio.run(_programs(patient, others))
    except DovecoteError:
        return None  # why no runner works is told by its own check


async def _programs(patient: Patient, others: Collection[Need]) -> InstalledPrograms:
    chosen = await choose_runner(patient.settings.agent.runner, runner_options(patient))
    runner = chosen.runner
    try:
        asked = {each.key for each in others}
        missing = [each for each in asked if await runner.finds(each[0], is_script=each[1]) is False]
        return InstalledPrograms(
            runner=runner.name,
            names=await runner.agent_programs(),
            are_fetched=runner.name == "bubblewrap",
            missing=frozenset(missing),
        )
    finally:
        await runner.close()


async def _look(patient: Patient) -> tuple[Chosen, str]:
    chosen = await choose_runner(patient.settings.agent.runner, runner_options(patient))
    runner = chosen.runner
    try:
        return chosen, await runner.limits_in_words()
    finally:
        await runner.close()
