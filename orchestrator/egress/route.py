"""From a name that is allowed to addresses that may be connected to."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from orchestrator.contracts.egress_seams import Resolver
from orchestrator.core.sandbox.egress_rules import Address, is_public, parsed_address, unwrapped

_log = structlog.get_logger(__name__)

Dial: TypeAlias = Callable[[str, int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""Opens a TCP connection to exactly this address and port."""

# What is read ahead of a slow reader, twice at most.
_READ_AHEAD_BYTES = 256 * 1024


class Unreachable(Exception):
    """There is no connection to be had; the text says why to a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Connects to names. Each look-up is judged anew, and the very address that was judged is dialled."""

    resolver: Resolver
    dial: Dial
    is_ours: Callable[[Address], bool]

    async def connect(
        self, host: str, port: int, *, within_s: float
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to a public address of `host`. Raises Unreachable."""
        return await self._connect(host, port, within_s=within_s, is_judged=True)

    async def connect_named(
        self, host: str, port: int, *, within_s: float
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to wherever `host` is: the operator has named it. Raises Unreachable."""
        return await self._connect(host, port, within_s=within_s, is_judged=False)

    async def _connect(
        self, host: str, port: int, *, within_s: float, is_judged: bool
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            async with asyncio.timeout(within_s):
                addresses = await self._addresses(host, is_judged=is_judged)
                return await self._first_that_answers(addresses, host, port)
        except TimeoutError:
            raise Unreachable(f"{host} did not answer within {within_s:g} s.") from None

    async def _addresses(self, host: str, *, is_judged: bool) -> list[str]:
        literal = parsed_address(host)
        texts = [host] if literal is not None else await self.resolver.addresses(host)
        found = [address for text in texts if (address := parsed_address(text)) is not None]
        if not found:
            raise Unreachable(f"The name {host} is not known.")
        if not is_judged:
            return [str(address) for address in found]
        open_ones = [unwrapped(address) for address in found if self._may_be_reached(address)]
        if len(open_ones) < len(found):
            _log.warning("egress.address_refused", host=host, refused=len(found) - len(open_ones))
        if not open_ones:
            raise Unreachable(f"{host} stands for an address of a private network or of this machine.")
        return [str(address) for address in open_ones]

    def _may_be_reached(self, address: Address) -> bool:
        return is_public(address) and not self.is_ours(unwrapped(address)) and not self.is_ours(address)

    async def _first_that_answers(
        self, addresses: list[str], host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for address in addresses:
            try:
                return await self.dial(address, port)
            except OSError:
                continue
        raise Unreachable(f"{host}:{port} takes no connection.")


async def dial_tcp(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a TCP connection. Raises OSError."""
    return await asyncio.open_connection(address, port, limit=_READ_AHEAD_BYTES)
