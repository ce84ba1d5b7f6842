"""The doctor's checks of the walls: which runner is used and why, and which limits hold."""

import asyncio
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well, well_for_now
from orchestrator.contracts.errors import DovecoteError
from orchestrator.core.agents.unstartable import Need, NeedKey
from orchestrator.runners.catalog import Chosen, RunnerOptions, choose_runner
from orchestrator.runners.image import REBUILD

_GET_WALLS: Final = f"Install Docker, then: {REBUILD.removeprefix('Run: ')}; or install bubblewrap."
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
    agent = patient.settings.agent
    if chosen.runner.name == "process" and agent.runner == "process" and not agent.allow_unisolated:
        return well("runner", f"{chosen.words} So agent.runner wants it.")
    named = (agent.bwrap, agent.engine_url, agent.image)
    return judge_choice(chosen, is_wanted=any(each is not None for each in named))


def judge_choice(chosen: Chosen, *, is_wanted: bool) -> Finding:
    """What agents run in, and why in nothing better: each reason once, and then each advice once.

    is_wanted: a setting names what was passed over. Walls of the second kind are no fault where none does.
    """
    has_walls = chosen.runner.name != "process"
    if has_walls and not chosen.passed_over:
        return well("runner", chosen.words)
    split = [_SENTENCE_END.split(each, maxsplit=1) for each in chosen.passed_over]
    stands = " ".join(dict.fromkeys([chosen.words, *(reason for reason, *_ in split)]))
    mend = " ".join(dict.fromkeys(advice for _, *rest in split for advice in rest))
    if not has_walls:
        return doubtful("runner", stands, mend or _GET_WALLS)
    if is_wanted:
        return doubtful("runner", stands, mend or _GET_WALLS)
    return well_for_now(
        "runner", stands, f"For Docker containers instead: {(mend or _GET_WALLS).removeprefix('Run: ')}"
    )


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
