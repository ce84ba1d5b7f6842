"""Settings of the doors by which programs outside come in."""

from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from orchestrator.settings.section import ListOf, Section, Whole

_PORTS: Final = ListOf(what="ports from 1 to 65_535", example="[3001]")
_ORIGINS: Final = ListOf(what="origins of web pages", example='["http://localhost:5173"]')
_MOST: Final = 65_535


def _all_ports(ports: tuple[int, ...]) -> tuple[int, ...]:
    if not all(1 <= port <= _MOST for port in ports):
        raise ValueError("holds what is not a port")
    return ports


def _all_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for each in origins:
        parts = urlsplit(each)
        if (
            parts.scheme not in {"http", "https"}
            or not parts.netloc
            or each != f"{parts.scheme}://{parts.netloc}"
        ):
            raise ValueError("holds what is not the origin of a page")
    return origins


class ApiSettings(Section):
    """HTTP beside the Unix socket, which is always there. Nothing but this machine is ever listened to."""

    loopback: bool = Field(
        True, description="answer programs of this machine on `127.0.0.1`, who need a credential there too"
    )
    port: Whole = Field(8001, ge=1, le=_MOST, description="port on `127.0.0.1`")
    extra_ports: Annotated[tuple[Whole, ...], AfterValidator(_all_ports), _PORTS] = Field(
        (), description="further ports, such as 3001 for clients made for Pinocchio"
    )
    allowed_origins: Annotated[tuple[str, ...], AfterValidator(_all_origins), _ORIGINS] = Field(
        (), description="web pages, besides our own, whose scripts may call"
    )
    requests_per_minute: Whole = Field(
        600, ge=1, le=1_000_000, description="requests a minute of one credential"
    )
    refusals_per_minute: Whole = Field(
        30, ge=1, le=1_000_000, description="requests without a good credential a minute and address"
    )
    dev_mode: bool = Field(
        False, description="take callers on the Unix socket who bring no credential for the operator"
    )


def other_port(settings: ApiSettings, port: int) -> str:
    """What is done about a port that another program has."""
    name = "port" if port == settings.port else "extra_ports"
    return f"Choose another in api.{name} of dovecote.toml, or stop that program."


def api_ports(settings: ApiSettings) -> tuple[int, ...]:
    """Every port on `127.0.0.1` that is to be listened on, each once."""
    return tuple(dict.fromkeys((settings.port, *settings.extra_ports))) if settings.loopback else ()
