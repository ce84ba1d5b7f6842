"""Which runners there are, and which one this machine uses."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from orchestrator.contracts.errors import ErrorCode, InvalidSettings, Unavailable
from orchestrator.contracts.seams import Runner
from orchestrator.runners.host_system import is_switch_off


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerOptions:
    """What runners are made from. engine_url, bwrap: None takes what this machine usually has.

    image: None is the one of these very files.
    """

    image: str | None
    programs_directory: Path
    engine_url: str | None = None
    bwrap: Path | None = None
    allow_unisolated: bool = False


class DescribedRunner(Runner, Protocol):
    """A runner that tells the operator what it does."""

    async def in_words(self) -> str:
        """One line: what agents run in. Raises Unavailable."""
        ...

    async def agent_programs(self) -> tuple[str, ...] | None:
        """The agent programs that agents find, as `dovecote image build --with` calls them; None: unknown.

        Raises Unavailable.
        """
        ...

    async def limits_in_words(self) -> str:
        """Which limits hold on this machine, for `dovecote doctor`. Raises Unavailable."""
        ...


# Imported when asked for: the `docker` package alone takes 0.1 s.
def _docker(options: RunnerOptions) -> DescribedRunner:
    from orchestrator.runners.docker_runner import DockerRunner

    return DockerRunner(image=options.image, engine_url=options.engine_url)


def _bubblewrap(options: RunnerOptions) -> DescribedRunner:
    from orchestrator.runners.bubblewrap_runner import BubblewrapRunner

    return BubblewrapRunner(programs_directory=options.programs_directory, bwrap=options.bwrap)


def _process(options: RunnerOptions) -> DescribedRunner:
    from orchestrator.runners.process_runner import ProcessRunner

    return ProcessRunner(
        programs_directory=options.programs_directory, allow_unisolated=options.allow_unisolated
    )


RUNNERS: Final[Mapping[str, Callable[[RunnerOptions], DescribedRunner]]] = {
    "docker": _docker,
    "bubblewrap": _bubblewrap,
    "process": _process,
}
"""In the order in which `auto` tries them: the best walls first."""


def make_runner(name: str, options: RunnerOptions) -> DescribedRunner:
    """The runner of that name, whether it can work here or not. Raises InvalidSettings."""
    if name not in RUNNERS:
        raise InvalidSettings(
            f"There is no runner {name!r}.", suggestion=f"Use one of: auto, {', '.join(RUNNERS)}."
        )
    return RUNNERS[name](options)


async def choose_runner(wanted: str, options: RunnerOptions) -> tuple[DescribedRunner, str]:
    """The runner to use, and the one line that says which and why. wanted: `auto` or a name.

    Raises Unavailable when the wanted one can't start agents, with what mends it.
    """
    if wanted != "auto":
        return await _wanted_runner(wanted, options)
    reasons: list[str] = []
    for name, what, its_options in _candidates(options):
        runner = make_runner(name, its_options)
        reason = await runner.why_not()
        if reason is None:
            why = f" {' '.join(reasons)}" if reasons else ""
            return runner, f"{await runner.in_words()}{why}"
        reasons.append(f"{what} is not usable: {reason}")
        await runner.close()
    raise Unavailable(" ".join(reasons), code=ErrorCode.RUNNER_UNAVAILABLE)


def _candidates(options: RunnerOptions) -> Iterator[tuple[str, str, RunnerOptions]]:
    """Name, name in words and options of what `auto` tries.

    A `bwrap` that was set and does not work must not cost the walls where another one works.
    `/bin/false` is how bubblewrap is turned off.
    """
    for name in RUNNERS:
        if name != "bubblewrap" or options.bwrap is None:
            yield name, name.capitalize(), options
            continue
        yield name, "The bwrap of the setting agent.bwrap", options
        if not is_switch_off(options.bwrap):
            yield name, "Bubblewrap", replace(options, bwrap=None)


async def _wanted_runner(name: str, options: RunnerOptions) -> tuple[DescribedRunner, str]:
    runner = make_runner(name, options)
    reason = await runner.why_not()
    if reason is None:
        return runner, await runner.in_words()
    await runner.close()
    raise Unavailable(
        f"The runner {name!r}, which the settings name, can't start agents: {reason}",
        code=ErrorCode.RUNNER_UNAVAILABLE,
        suggestion="Or set agent.runner to auto.",
    )
