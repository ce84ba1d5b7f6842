"""The Protocols of the way out of containers: egress meets the rest of the orchestrator in these."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.egress import AgentAnswer, AgentCall, EgressPolicy, ProviderCall, Secret


class EgressDoor(Protocol):
    """One agent's open way out."""

    @property
    def directory(self) -> Path:
        """The host directory that holds the socket, to be mounted read-only at `EGRESS_TARGET`."""
        ...

    @property
    def last_failure(self) -> ProviderCall | None:
        """The latest call to the provider if the provider failed it, else None.

        Source: contracts.md section 2.
        """
        ...

    async def close(self) -> None:
        """End every connection and remove the socket. May be called again."""
        ...


class Resolver(Protocol):
    """Looks up host names."""

    async def addresses(self, host: str) -> list[str]:
        """What the name stands for now, best first; empty if nobody knows it."""
        ...


class TextSocket(Protocol):
    """A WebSocket with somebody at the other end. One task receives while another one sends."""

    async def receive(self) -> str | bytes | None:
        """The next message; None once he has gone."""
        ...

    async def send(self, text: str) -> None:
        """Send it, at his pace. Raises ConnectionError when he has gone."""
        ...

    async def refuse(self, why: str) -> None:
        """Close it, with a word about what he did. Raises ConnectionError when he has gone."""
        ...


AgentWatch = Callable[[TextSocket], Coroutine[Any, Any, None]]
"""Serves one WebSocket to its end."""


class AgentApi(Protocol):
    """What agents may ask of the orchestrator over HTTP, each through its own socket."""

    async def answer(self, call: AgentCall) -> AgentAnswer:
        """The answer, refusals too. Cancelled when the agent hangs up: what was begun goes on."""
        ...

    async def watch(self, call: AgentCall) -> AgentAnswer | AgentWatch:
        """What serves a WebSocket of this agent, once that is accepted, to its end; or why there is none."""
        ...


class Egress(Protocol):
    """Opens the ways out of containers."""

    async def open(self, policy: EgressPolicy) -> EgressDoor:
        """A socket that lets through what the policy says; it listens when this returns."""
        ...

    async def close(self) -> None: ...


class SecretValues(Protocol):
    """Where credentials are looked up; what comes back shows itself to nobody."""

    async def get(self, ref: str) -> Secret | None:
        """What `env:NAME` or `secret:providers/…/…` stands for; None if unset. Raises Unavailable."""
        ...


class UsageMeter(Protocol):
    """Counts what agents use, and says when a budget is spent."""

    async def why_not(self, agent: AgentId, group: GroupFolder) -> str | None:
        """None while the group may spend more; else the sentence that the provider call is refused with."""
        ...

    async def record(self, call: ProviderCall) -> None:
        """Remember a finished call, failed ones too."""
        ...
