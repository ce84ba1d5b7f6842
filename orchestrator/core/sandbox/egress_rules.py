"""Where an agent's connections may lead: judged by name before a look-up, by address after it.

Source: agents.md section 5.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, TypeAlias

from orchestrator.contracts.records.definitions import HostPort
from orchestrator.core.sandbox.refusal import CallRefusal, forbidden, malformed

Address: TypeAlias = IPv4Address | IPv6Address

_MAX_NAME_CHARS: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# What a resolver may take for a piece of an IPv4 address: decimal, octal, hexadecimal.
_NUMBER: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")

# Our own list, since what `ipaddress` calls global has changed between releases of Python.
# Source: the special-purpose address registries of IANA.
_CLOSED_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_OPEN_V6: Final = IPv6Network("2000::/3")
# 2001::/23 holds Teredo, ORCHID and benchmarking, 2002::/16 is 6to4: both lead on to addresses inside.
_CLOSED_V6: Final = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_NAT64: Final = IPv6Network("64:ff9b::/96")
# The identifiers of ISATAP end in an IPv4 address: 0000:5efe or 0200:5efe, then the address.
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def named_destination(authority: str, allowed: Sequence[HostPort]) -> HostPort | CallRefusal:
    """The entry of `allowed` that the authority of a `CONNECT` names; no look-up is needed to say no.

    Only `name:port` is read: an address in any notation, a user, a trailing dot or letters beyond ASCII
    are on no list.
    """
    host, colon, port = authority.rpartition(":")
    if not colon or not _PORT.fullmatch(port) or int(port) > 65_535:
        return malformed("CONNECT needs a host name and a port, such as example.org:443.")
    name = host.lower()
    if not is_host_name(name):
        return forbidden(f"{_shown(authority)} is not a plain host name: addresses are not let through.")
    for entry in allowed:
        if entry.host.lower() == name and entry.port == int(port):
            return HostPort(host=name, port=entry.port)
    return forbidden(
        f"{name}:{port} is not on this group's list. The operator can add it to `egress` in the group's "
        "AGENT.md."
    )


def is_host_name(name: str) -> bool:
    """Whether it is a lower-case name in ASCII that no resolver takes for an address."""
    if len(name) > _MAX_NAME_CHARS:
        return False
    labels = name.split(".")
    return all(_LABEL.fullmatch(label) for label in labels) and not _NUMBER.fullmatch(labels[-1])


def unwrapped(address: Address) -> Address:
    """The IPv4 address that a mapped or NAT64 one stands for; any other address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(address.packed[-4:])
    return address


def is_public(address: Address) -> bool:
    """Whether the address is globally routable, after unwrapping, and no tunnel to one that is not."""
    inner = unwrapped(address)
    if isinstance(inner, IPv4Address):
        return inner.is_global and not any(inner in network for network in _CLOSED_V4)
    if inner.scope_id is not None or inner not in _OPEN_V6 or not inner.is_global:
        return False
    if any(inner in network for network in _CLOSED_V6):
        return False
    return (int(inner) >> 32) & 0xFFFF_FFFF not in _ISATAP


def parsed_address(text: str) -> Address | None:
    """The address as a resolver writes it; None if it is none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 80 else f"{text[:80]}…")
