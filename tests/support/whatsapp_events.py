"""Real protobuf objects of neonize for the tests, made without loading its Go library."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from orchestrator.channels.whatsapp.translate import Me, to_inbound
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage

ANNA_LID: Final = Jid("98765432109876@lid")
ANNA_PHONE: Final = Jid("4915100000001@s.whatsapp.net")
BEN_PHONE: Final = Jid("4915100000002@s.whatsapp.net")
OUR_LID: Final = Jid("11112222333344@lid")
OUR_PHONE: Final = Jid("4915199999999@s.whatsapp.net")
FAMILY: Final = Jid("120363000000000001@g.us")
SENT_MS: Final = 1_790_000_000_123
ME: Final = Me(ids=frozenset({OUR_LID, OUR_PHONE}))


def _load(*names: str) -> list[ModuleType]:
    """The generated modules, from where neonize lies; importing the package would start its library."""
    found = importlib.util.find_spec("neonize")
    assert found is not None, "neonize is not installed: tools/setup.sh dev"
    assert found.submodule_search_locations is not None
    protos = str(Path(found.submodule_search_locations[0]) / "proto")
    sys.path.insert(0, protos)
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.path.remove(protos)


e2e, neonize_types = _load("waE2E.WAWebProtobufsE2E_pb2", "Neonize_pb2")
Message: Final = e2e.Message


def set_jid(target: Any, jid: str, *, device: int = 0) -> None:
    """Fill a `JID` of the library as it comes from the network."""
    target.User, _, target.Server = jid.partition("@")
    target.Device, target.RawAgent, target.Integrator = device, 0, 0


def make_info(
    info: Any,
    *,
    chat: str = FAMILY,
    sender: str = ANNA_LID,
    alt: str = "",
    recipient_alt: str = "",
    message_id: str = "3EB0AAAA",
    name: str = "Anna",
    sent_ms: int = SENT_MS,
    from_me: bool = False,
    edit: str = "",
) -> None:
    """Fill a `MessageInfo`: by default Anna writes to the family under her hidden id."""
    source = info.MessageSource
    set_jid(source.Chat, chat)
    set_jid(source.Sender, sender, device=7)
    set_jid(source.SenderAlt, alt)
    set_jid(source.RecipientAlt, recipient_alt)
    source.IsFromMe, source.IsGroup = from_me, chat.endswith("@g.us")
    info.ID, info.Pushname, info.Timestamp, info.Edit = message_id, name, sent_ms, edit


def event(message: Any = None, **info: Any) -> Any:
    """A message event with this `Message`, or with fields of one given as a mapping."""
    made = neonize_types.Message()
    make_info(made.Info, **info)
    if message is not None:
        made.Message.CopyFrom(Message(**message) if isinstance(message, dict) else message)
    return made


def undecryptable_event(*, is_unavailable: bool = False, hide: bool = False, **info: Any) -> Any:
    """A message that could not be decrypted."""
    made = neonize_types.UndecryptableMessage()
    make_info(made.Info, **info)
    made.IsUnavailable, made.DecryptFailMode = is_unavailable, 2 if hide else 1
    return made


def heard(message: Any, **info: Any) -> InboundMessage:
    """What a message event is read as; it must be a message."""
    inbound = to_inbound(event(message, **info), ME)
    assert isinstance(inbound, InboundMessage), inbound
    return inbound
