"""Faults that were reported of systems like this one, against the channel over the real child."""

import asyncio
from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.pace import PaceRule
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import Change, ChangeKind, InboundMessage, OutboundMessage
from orchestrator.contracts.seams import SendUnavailable
from tests.edges.whatsapp.conftest import Desk, MakeDesk, scripted, to_choir
from tests.support.eventually import eventually
from tests.support.protobuf_filling import filled
from tests.support.whatsapp_events import ANNA_LID, ANNA_PHONE, SENT_MS, Message, event

CHESS = Jid("1204@g.us")


@pytest.fixture
def real_desk(make_desk: MakeDesk) -> Desk:
    """The whole channel over the real child."""
    pytest.importorskip("magic", exc_type=ImportError)
    return make_desk(command=scripted(make_desk().far))


def put(directory: Path, number: int, message: object) -> None:
    """A real event of the network."""
    raw = filled(event(message, message_id=f"3EB0{number}"))
    unfinished = directory / "in" / f".{number:06}"
    unfinished.write_bytes(raw)
    unfinished.rename(directory / "in" / f"{number:06}.raw")


async def test_g16_what_comes_in_a_wrapper_is_read(real_desk: Desk) -> None:
    """Case G16: messages that vanish, that are seen once, and edits were never read."""
    said = Message(conversation="hello")
    edit = Message()
    edit.editedMessage.message.protocolMessage.type = 14
    edit.editedMessage.message.protocolMessage.key.ID = "3EB01"
    edit.editedMessage.message.protocolMessage.editedMessage.conversation = "good evening"
    wrapped = [Message(), Message(), edit]
    wrapped[0].ephemeralMessage.message.CopyFrom(said)
    wrapped[1].viewOnceMessageV2.message.CopyFrom(said)
    for number, message in enumerate(wrapped, start=1):
        put(real_desk.far.directory, number, message)

    await real_desk.channel.connect(real_desk.inbox)
    await eventually(lambda: len(real_desk.met) == 3)

    assert [each.text for each in real_desk.met] == ["hello", "hello", "good evening"]
    assert real_desk.met[2].change == Change(kind=ChangeKind.EDIT, message_id=MessageId("3EB01"))


async def test_a_photo_in_better_quality_names_the_first_and_what_is_seen_once_says_so(
    real_desk: Desk,
) -> None:
    better, once = Message(), Message()
    better.associatedChildMessage.message.imageMessage.mimetype = "image/jpeg"
    association = better.messageContextInfo.messageAssociation
    association.associationType, association.parentMessageKey.ID = 10, "3EB01"
    once.viewOnceMessageV2.message.imageMessage.caption = "us"
    for number, message in enumerate([Message(imageMessage={"caption": "look"}), better, once], start=1):
        put(real_desk.far.directory, number, message)

    await real_desk.channel.connect(real_desk.inbox)
    await eventually(lambda: len(real_desk.met) == 3)

    first, second, third = real_desk.met
    assert (first.text, first.change) == ("look", None)
    assert second.change == Change(kind=ChangeKind.REPETITION, message_id=first.message_id)
    assert third.text == "us\n[View once: only the phone can show it]"


async def test_g6_who_is_who_is_told_before_the_message_that_says_it(desk: Desk) -> None:
    """Case G6."""
    known: list[object] = []

    async def inbox(message: InboundMessage) -> None:
        known.extend(desk.told.same)

    desk.far.write("hello", same=[{"lid": "7001@lid", "phone": "4917100000001@s.whatsapp.net"}])
    await desk.channel.connect(inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert ("7001@lid", "4917100000001@s.whatsapp.net") in known


async def test_g6_the_second_id_of_a_real_message_is_told_before_it(real_desk: Desk) -> None:
    """Case G6."""
    known: list[object] = []

    async def inbox(message: InboundMessage) -> None:
        known.extend(real_desk.told.same)

    raw = filled(event({"conversation": "hello"}, message_id="3EB01", sender=ANNA_LID, alt=ANNA_PHONE))
    (real_desk.far.directory / "in" / "000001.raw").write_bytes(raw)
    await real_desk.channel.connect(inbox)
    await eventually(lambda: known)

    assert (ANNA_LID, ANNA_PHONE) in known


async def test_what_was_missed_is_handed_on_once_and_what_is_older_than_that_never(
    make_desk: MakeDesk,
) -> None:
    """By the time at which it was sent: of a link that is new, or of a long time without one."""
    pytest.importorskip("magic", exc_type=ImportError)
    far = make_desk().far
    desk = make_desk(command=scripted(far, "--not-before-ms", str(SENT_MS)))
    for number, sent_ms in enumerate((SENT_MS - 1, SENT_MS, SENT_MS, SENT_MS + 1), start=1):
        raw = filled(event({"conversation": f"{number}"}, message_id=f"3EB0{number}", sent_ms=sent_ms))
        (far.directory / "in" / f"{number:06}.raw").write_bytes(raw)

    def is_over() -> bool:
        """Looked at in the order in which an event goes."""
        under_way = [list((far.directory / name).iterdir()) for name in ("in", "handed")]
        return not any(under_way) and not far.rows

    for _ in range(2):
        await desk.channel.connect(desk.inbox)
        await eventually(is_over)
        await desk.channel.close()

    assert [each.text for each in desk.met] == ["2", "3", "4"]


async def test_g18_a_version_that_the_network_takes_no_more_is_told_and_not_tried_all_the_time(
    real_desk: Desk,
) -> None:
    """Case G18: every connection was refused for an outdated version, and tried again at once."""
    (real_desk.far.directory / "outdated").touch()

    async with asyncio.TaskGroup() as tasks:
        connecting = tasks.create_task(real_desk.channel.connect(real_desk.inbox))
        await eventually(lambda: real_desk.whys)
        connecting.cancel()

    assert real_desk.whys[0] == "WhatsApp no longer takes this version of neonize: install a newer one"
    assert len(real_desk.far.lives) == 1


async def test_g13_a_chat_that_is_written_to_fast_waits_and_holds_up_no_other(make_desk: MakeDesk) -> None:
    """Case G13: nothing bounded how fast texts left, and the account was barred."""
    desk = make_desk(pace=PaceRule(chat_per_minute=0.001, chat_burst=2, jitter_s=0))
    await desk.channel.connect(desk.inbox)

    for number in (1, 2):
        await desk.channel.send(to_choir(f"text {number}", number))
    with pytest.raises(SendUnavailable):
        await desk.channel.send(to_choir("text 3", 3))
    await desk.channel.send(OutboundMessage(chat_jid=CHESS, text="chess", outbox_id=4))

    assert desk.far.sent == ["text 1", "text 2", "chess"]
