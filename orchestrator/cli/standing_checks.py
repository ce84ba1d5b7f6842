"""The doctor's checks of how the store says that all stands, whether an orchestrator runs or not."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import groupby
from typing import Final

from orchestrator.app.parts import SystemClock
from orchestrator.channels.console import PREFIX
from orchestrator.channels.whatsapp.jids import GROUP_SERVER, PHONE_SERVER
from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.cli.queue_checks import (
    check_agents,
    check_messages,
    check_outbox,
    check_schedule,
    check_spawns,
    check_told,
    check_wishes,
)
from orchestrator.cli.status_lines import age, bounds_in_words, heard_in_words
from orchestrator.cli.store_checks import is_made
from orchestrator.commands.standing import standing_now
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.records.standing import Standing
from orchestrator.core.incidents import in_words
from orchestrator.store.database import looking_at

_MOST_SKEW: Final = timedelta(minutes=5)
_BY_THEMSELVES: Final = frozenset({"provider", "budget"})
"""Incidents that end without anybody's doing."""
_TOLD_BY_OTHERS: Final = frozenset({"files", "senders", "senders-kept"})
"""Incidents whose cause has a check of its own."""
_SERVERS: Final = (f"@{GROUP_SERVER}", f"@{PHONE_SERVER}", "@lid")
Judgement = Callable[[Standing, Patient], Finding]


def check_clock(standing: Standing, patient: Patient) -> Finding:
    """The clock of this machine stands behind all that happened."""
    newest = standing.newest_at
    if newest is not None and newest - standing.at > _MOST_SKEW:
        ahead = age(standing.at, newest)
        why = f"The clock of this machine is {ahead} before the newest message: it was set back, or is wrong."
        return broken("clock", why, "sudo timedatectl set-ntp true   (or set it by hand)")
    return well("clock", f"It is {standing.at:%Y-%m-%d %H:%M} UTC.")


def check_operators(standing: Standing, patient: Patient) -> Finding:
    """Somebody may command Dovecote."""
    assistant = patient.settings.assistant
    main = next((each for each in standing.groups if each.is_main), None)
    is_group = main is not None and main.jid.endswith(f"@{GROUP_SERVER}")
    if is_group and assistant.main_members == "listed" and not assistant.operators:
        why = "The main chat is a group, and assistant.operators lists nobody: no word in it counts."
        return broken("operators", why, "Set assistant.operators, or assistant.main_members = everyone.")
    return well("operators", f"{len(assistant.operators)} are listed besides those in the main chat.")


def check_membership(standing: Standing, patient: Patient) -> Finding:
    """Dovecote is in the chat of every group."""
    if standing.left:
        first = standing.left[0]
        why = f"Dovecote is in the chat of {first} no more ({len(standing.left)} groups in all)."
        return broken("membership", why, f"Have it added there again, or: dovecote group remove {first}")
    return well("membership", "Dovecote has left the chat of no group.")


def check_bounds(standing: Standing, patient: Patient) -> Finding:
    """Nobody is left unanswered because he called too often."""
    words = bounds_in_words(standing)
    if not words:
        return well("bounds", "Nobody has called too often.")
    more = f" And {len(words) - 1} more." if len(words) > 1 else ""
    mend = "Wait, or set it higher (0: no bound) in dovecote.toml; operators have none (assistant.operators)."
    return doubtful("bounds", f"{words[0][0].upper()}{words[0][1:]}.{more}", mend)


JUDGEMENTS: Final[tuple[Judgement, ...]] = (
    check_clock,
    check_operators,
    check_membership,
    check_messages,
    check_bounds,
    check_agents,
    check_outbox,
    check_schedule,
    check_wishes,
    check_spawns,
    check_told,
)
"""What is said of a store that can be read, one finding each."""


def standing_findings(patient: Patient) -> list[Finding]:
    """All of them. A store that can't be read is told by its own check."""
    if not is_made(patient.paths.database):
        return []
    try:
        standing = asyncio.run(_look(patient))
    except (sqlite3.Error, Unavailable):
        return []
    return [
        *(judge(standing, patient) for judge in JUDGEMENTS),
        *_channels(standing, patient),
        *_incidents(standing),
    ]


async def _look(patient: Patient) -> Standing:
    async with looking_at(patient.paths.database) as reader:
        return await standing_now(reader, patient.settings, at=SystemClock().now())


def _channels(standing: Standing, patient: Patient) -> Iterator[Finding]:
    """When each was heard, and whether groups are registered whose channel is off or says nothing of them."""
    on_whatsapp = [each for each in standing.groups if each.jid.endswith(_SERVERS)]
    if on_whatsapp and not patient.settings.whatsapp.enabled:
        why = f"The chat of {on_whatsapp[0].folder} is one of WhatsApp, which is off: it is never heard."
        yield broken("channel whatsapp", why, "Set whatsapp.enabled, then: dovecote whatsapp link")
        return
    for name, found in groupby(standing.heard, key=lambda each: each.channel):
        kinds = list(found)
        heard = {each.is_group for each in kinds if each.last_at is not None}
        said = f"{heard_in_words(kinds, standing.at).capitalize()}."
        has_groups = name != PREFIX.rstrip(":") and any(
            each.jid.endswith(_SERVERS[0]) for each in on_whatsapp
        )
        if has_groups and heard == {False}:
            mend = f"See that the account is in them: dovecote {name} groups"
            yield doubtful(f"channel {name}", f"{said} Groups are registered.", mend)
        else:
            yield well(f"channel {name}", said)


def _incidents(standing: Standing) -> Iterator[Finding]:
    """What people were told of and that is not over."""
    folders = {str(each.jid): str(each.folder) for each in standing.groups}
    for incident in standing.incidents:
        words = in_words(incident.name, folders=folders)
        if words is not None and words.kind not in _TOLD_BY_OTHERS:
            why = f"{words.what} Since {age(incident.opened_at, standing.at)}."
            say = doubtful if words.kind in _BY_THEMSELVES else broken
            yield say(f"incident {words.kind}", why, words.mend)
