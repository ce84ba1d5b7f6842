"""`dovecote provider check`: is its credential set, and does its upstream take it, by the real way out?"""

import asyncio
import json
import logging
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

import httpx
import structlog

from orchestrator.app.parts import SystemClock
from orchestrator.cli.definition_lists import secrets_of
from orchestrator.cli.findings import Finding, Health, broken, doubtful, well
from orchestrator.cli.home import Home, open_home
from orchestrator.commands.setup.definitions import load_providers
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.egress import EGRESS_SOCKET, EgressPolicy, ProviderCall, Secret
from orchestrator.contracts.records.providers import AuthMode, Provider, ProviderApi
from orchestrator.core.agents.credential_advice import how_to_set
from orchestrator.core.text_cleaning import clean_text
from orchestrator.egress.proxy import opened_egress

_WITHIN_S: Final = 30.0
_MAX_SAID_CHARS: Final = 200
_MARKS: Final = {Health.OK: "ok  ", Health.WARNING: "warn", Health.FAILURE: "FAIL"}


class _NoMeter:
    """A look is neither counted nor bounded."""

    async def why_not(self, agent: AgentId, group: GroupFolder) -> str | None:
        return None

    async def record(self, call: ProviderCall) -> None:
        pass


def check(home_option: Path | None, name: str, *, as_json: bool) -> int:
    """Print what was found; 1 if the provider can't be used so. Raises InvalidSettings."""
    home = open_home(home_option)
    provider = load_providers(home.paths, home.settings).named(name)
    with _without_logs():
        findings = asyncio.run(_look(home, provider))
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    for finding in () if as_json else findings:
        print(f"{_MARKS[finding.health]}  {finding.what}: {clean_text(finding.why)}")
        if finding.mend:
            print(f"      {clean_text(finding.mend)}")
    return 1 if any(finding.health is Health.FAILURE for finding in findings) else 0


@contextmanager
def _without_logs() -> Iterator[None]:
    """What the proxy logs is for the log of the orchestrator; here the findings say it."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**before)


async def _look(home: Home, provider: Provider) -> list[Finding]:
    findings, credential = await _slots(home, provider)
    if provider.auth_mode is AuthMode.NATIVE_CLI:
        mend = "Set auth_mode = bound_secret and a slot, if the provider has keys."
        why = "native_cli: its program holds its own login, which whatever runs in the container can read"
        findings.append(doubtful("credential", why, mend))
    if provider.api is None:
        findings.append(well("upstream", "none: it needs no network"))
    elif provider.auth_mode is AuthMode.NATIVE_CLI:
        findings.append(well("upstream", f"{provider.api.base}, reached by the program itself"))
    elif any(finding.health is Health.FAILURE for finding in findings):
        findings.append(doubtful("upstream", "not asked without a credential", "Set that first."))
    else:
        findings.append(await _ask(provider.api, credential))
    return findings


async def _slots(home: Home, provider: Provider) -> tuple[list[Finding], Secret | None]:
    """Each slot, and the credential: of the slots the first that is set."""
    findings: list[Finding] = []
    first: Secret | None = None
    for slot in provider.slots:
        what = f"credential {slot.name}"
        try:
            value = await secrets_of(home).get(slot.secret_ref)
        except DovecoteError as error:
            findings.append(broken(what, error.message, error.suggestion))
            continue
        first = first or value or None
        if value:
            findings.append(well(what, f"set, by {slot.secret_ref}"))
        elif slot.is_required:
            findings.append(broken(what, "not set", how_to_set(slot)))
        else:
            findings.append(well(what, "not set, and not needed"))
    return findings, first


async def _ask(api: ProviderApi, credential: Secret | None) -> Finding:
    """One call that costs nothing, by the same proxy and rules that agents have."""
    path = next((call.path for call in api.calls if call.method == "GET" and "*" not in call.path), None)
    if path is None:
        return doubtful("upstream", f"{api.base} has no call that costs nothing, so it was not asked", "")
    try:
        async with _client(api, credential) as client:
            answer = await client.get(path)
    except DovecoteError as error:
        return broken("upstream", error.message, error.suggestion)
    except httpx.HTTPError as error:
        return broken("upstream", f"GET {api.base}{path} failed: {type(error).__name__}.", None)
    return _verdict(api, f"GET {api.base}{path}", answer.status_code, answer.text)


@asynccontextmanager
async def _client(api: ProviderApi, credential: Secret | None) -> AsyncIterator[httpx.AsyncClient]:
    policy = EgressPolicy(
        agent_id=AgentId("agent-check"), group=GroupFolder("check"), api=api, credential=credential
    )
    # Its path is short: a socket's has to be.
    with tempfile.TemporaryDirectory(prefix="dovecote-") as directory:
        async with opened_egress(Path(directory), meter=_NoMeter(), clock=SystemClock()) as egress:
            door = await egress.open(policy)
            transport = httpx.AsyncHTTPTransport(uds=str(door.directory / EGRESS_SOCKET))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", timeout=_WITHIN_S, headers=_HEADERS
            ) as client:
                yield client


_HEADERS: Final = {"anthropic-version": "2023-06-01"}
"""What one of the wire formats wants with each call; the others ignore it."""


def _said(body: str) -> str:
    """The message of an error as every wire format shapes it; else all of the answer."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):  # a provider answers what it likes
        return body
    return message if isinstance(message, str) else body


def _verdict(api: ProviderApi, call: str, status: int, body: str) -> Finding:
    said = " ".join(_said(body).split())[:_MAX_SAID_CHARS]
    if status < 300:
        return well("upstream", f"{call} is answered")
    if status in (401, 403):
        mend = "Set the right one: dovecote secret list shows what is set."
        return broken("upstream", f"{call} is answered by {status}: the credential is refused. {said}", mend)
    if status in (404, 405):
        return well("upstream", f"{api.base} is reached; it knows no {call.split('/')[-1]} ({status})")
    if status in (429, 503, 529):
        return doubtful("upstream", f"{call} is answered by {status}: it is busy. {said}", "Try again later.")
    mend = f"Check base_url, which is {api.base}, and the network of this machine."
    return broken("upstream", f"{call} is answered by {status}. {said}", mend)
