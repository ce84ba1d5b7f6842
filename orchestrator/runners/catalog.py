"""Which runners there are, and which one this machine uses."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from orchestrator.contracts.errors import ErrorCode, InvalidSettings, Unavailable
from orchestrator.contracts.seams import Runner
from orchestrator.runners.host_system import is_switch_off

_FIRST_PART: Final = re.compile(r"[:.](?: |$)")


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

    async def finds(self, program: str, *, is_script: bool = False) -> bool | None:
        """Whether agents find a program of that name or path; None where nobody can tell.

        is_script: it is a file that is read, by its path.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A runner that works. words: what agents run in. passed_over: why each better one is not used, whole."""

    runner: DescribedRunner
    words: str
    passed_over: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Which runner and why, short enough to begin a chat with."""
        return f"{self.in_brief[:-1]} (see dovecote doctor)." if self.passed_over else self.words

    @property
    def in_brief(self) -> str:
        """Which runner and why, without what mends it."""
        if not self.passed_over:
            return self.words
        return f"{self.words} {'. '.join(map(_in_brief, self.passed_over))}."

    @property
    def in_full(self) -> str:
        """The same with each cause, and what mends it."""
        return " ".join((self.words, *self.passed_over))


async def choose_runner(wanted: str, options: RunnerOptions) -> Chosen:
    """The runner to use. wanted: `auto` or a name.

    Raises Unavailable when the wanted one can't start agents, with what mends it.
    """
    if wanted != "auto":
        return await _wanted_runner(wanted, options)
    reasons: list[str] = []
    for name, setting, its_options in _candidates(options):
        runner = make_runner(name, its_options)
        reason = await runner.why_not()
        if reason is None:
            return Chosen(runner=runner, words=await runner.in_words(), passed_over=tuple(reasons))
        reasons.append(reason if setting is None else f"The setting {setting} does not fit: {reason}")
        await runner.close()
    raise Unavailable(" ".join(reasons), code=ErrorCode.RUNNER_UNAVAILABLE)


def _in_brief(reason: str) -> str:
    """What is wrong, without its cause and what mends it: they come behind the first colon or stop."""
    return _FIRST_PART.split(reason, maxsplit=1)[0]


def _candidates(options: RunnerOptions) -> Iterator[tuple[str, str | None, RunnerOptions]]:
    """Name and options of what `auto` tries, between them the setting that it was taken from, if it was.

    A `bwrap` that was set and does not work must not cost the walls where another one works.
    `/bin/false` is how bubblewrap is turned off.
    """
    for name in RUNNERS:
        if name != "bubblewrap" or options.bwrap is None:
            yield name, None, options
            continue
        yield name, "agent.bwrap", options
        if not is_switch_off(options.bwrap):
            yield name, None, replace(options, bwrap=None)


async def _wanted_runner(name: str, options: RunnerOptions) -> Chosen:
    runner = make_runner(name, options)
    reason = await runner.why_not()
    if reason is None:
        return Chosen(runner=runner, words=await runner.in_words())
    await runner.close()
    raise Unavailable(
        f"The runner {name!r}, which the settings name, can't start agents: {reason}",
        code=ErrorCode.RUNNER_UNAVAILABLE,
        suggestion="Or set agent.runner to auto.",
    )
