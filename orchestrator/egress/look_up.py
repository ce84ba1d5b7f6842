"""Names and addresses, as this machine's system knows them."""

import asyncio
import contextlib
import errno
import socket
from concurrent.futures import ThreadPoolExecutor

from orchestrator.core.sandbox.egress_rules import Address


class SystemResolver:
    """A Resolver that asks the system, in threads of its own: a look-up may hang for half a minute."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads

    async def addresses(self, host: str) -> list[str]:
        """What the system says now; nothing is remembered. Empty if it knows none."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _look_up, host)


def is_this_machine(address: Address) -> bool:
    """Whether the address is one of this machine's own: only those can be bound to."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with contextlib.closing(socket.socket(family, socket.SOCK_DGRAM)) as probe:
            probe.bind((str(address), 0))
    except OSError as error:
        # Without IPv6 the machine has no such address. Whatever else goes wrong, we don't know: a no.
        return error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
    return True


def _look_up(host: str) -> list[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
