"""How operators are told what they should not miss: in the main chat, else by their own command."""

from datetime import datetime

from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, Jid
from orchestrator.contracts.seams import Topic
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.store import alerts, groups
from orchestrator.store.transaction import Transaction


def tell_operators(
    tx: Transaction,
    services: Services,
    *,
    what: Say,
    incident: str,
    at: datetime,
    alert: Say | None = None,
    about: Jid | None = None,
    words_of: AgentId | None = None,
    **facts: object,
) -> None:
    """Say it in the main chat, once an incident; if nobody watches that, have `alerts.command` told.

    alert: the sentence for the command, where that is another one. about: the chat in trouble; if that
    is main itself, nothing is said there. words_of: the agent whose words are in it.
    """
    main, wanted = groups.main(tx), services.settings.alerts
    hears = main is not None and main.jid != about
    if main is not None and hears:
        is_new = queue_notice(
            tx,
            services,
            chat=main.jid,
            what=what,
            incident=incident,
            at=at,
            words_of=words_of,
            **facts,
        )
        hears = wanted.main_is_watched or not is_new
    if wanted.command and not hears:
        locale = services.settings.assistant.locale if main is None else main.locale
        alerts.add(tx, say(alert or what, locale, **facts), at=at)
        tx.wake(Topic.ALERTS)
