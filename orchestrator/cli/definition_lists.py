"""`dovecote agent check` and `dovecote provider list`: what the next start would find."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from orchestrator.cli.agent_checks import look_at_agents, with_older_agents
from orchestrator.cli.findings import Patient
from orchestrator.cli.groups import GroupDesk, at_desk
from orchestrator.cli.home import Home, open_home
from orchestrator.cli.labels import labelled
from orchestrator.cli.table import columns
from orchestrator.commands.setup.definition_faults import (
    DefinitionView,
    ProviderView,
    SlotView,
    list_providers,
)
from orchestrator.contracts.records.groups import Group
from orchestrator.core.text_cleaning import clean_text
from orchestrator.store.secret_values import SecretKeeper


def check(home_option: Path | None, folder: str | None, *, as_json: bool) -> int:
    """Print the definitions; 1 if one of them starts no agent."""
    home = open_home(home_option)
    patient = Patient(paths=home.paths, settings=home.settings, pid=None)
    views = with_older_agents(patient, look_at_agents(patient, _groups(home, folder)))
    if as_json:
        print(json.dumps([_plain(view) for view in views], indent=2))
    elif not views:
        print("No groups yet. The first start registers console:main.")
    for view in views if not as_json else ():
        print("\n".join(_lines(view, with_instructions=folder is not None)))
    return 0 if all(view.is_well for view in views) else 1


def list_all(home_option: Path | None, *, as_json: bool) -> None:
    """One line a provider. Raises DovecoteError when a file of providers can't be read at all."""
    home = open_home(home_option)
    views = asyncio.run(list_providers(home.paths, home.settings, secrets_of(home)))
    if as_json:
        print(json.dumps([asdict(view) for view in views], indent=2))
        return
    heads = ("PROVIDER", "DRIVER", "MODEL", "CREDENTIAL", "UPSTREAM")
    for row in columns(heads, [_row(view) for view in views]):
        print(row)
    for view in views:
        if view.trouble is not None:
            print(f"! {clean_text(view.trouble)}")


def secrets_of(home: Home) -> SecretKeeper:
    """The credentials of a home, looked up as its orchestrator would with this environment."""
    return SecretKeeper(home.paths.secrets, environment=os.environ)


def _groups(home: Home, folder: str | None) -> Sequence[Group]:
    async def look(desk: GroupDesk) -> Sequence[Group]:
        return await desk.list_all() if folder is None else [await desk.show(folder)]

    return at_desk(home, look)


def _plain(view: DefinitionView) -> Mapping[str, object]:
    plain = asdict(replace(view, definition=None))
    del plain["definition"]
    return plain


def _lines(view: DefinitionView, *, with_instructions: bool) -> list[str]:
    """What is wrong, then what it is. A long text below would push what is wrong off the screen: it is
    shown only of a definition that starts an agent, and what one may care about stands below it."""
    troubles: list[str] = []
    for trouble in view.troubles:
        sign = "!" if trouble.is_fatal else "?"
        troubles += [f"  {sign} {clean_text(trouble.what)}", f"    → {clean_text(trouble.mend)}"]
    credentials = [f"{each.name}: {each.state} ({each.secret_ref})" for each in view.credentials]
    fields = [f"  {line}" for line in labelled({**view.fields, "credential": "\n".join(credentials)})]
    if not view.is_well:
        return [f"{view.group}: no agent can be started", *troubles, *fields]
    text = clean_text(view.instructions).split("\n") if with_instructions and view.instructions else []
    told = ["  instructions", *(f"    {line}" for line in text)] if text else []
    return [f"{view.group}: well", *fields, *told, *troubles]


def _row(view: ProviderView) -> tuple[str, str, str, str, str]:
    credential = ", ".join(_state(slot) for slot in view.credentials) or view.auth_mode or ""
    driver = "broken" if view.trouble is not None else view.driver or ""
    return view.name, driver, view.model or "", credential, view.base_url or ""


def _state(slot: SlotView) -> str:
    return f"{slot.name} {slot.state}" if slot.is_required else f"{slot.name} {slot.state} (optional)"
