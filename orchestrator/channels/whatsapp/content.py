"""What a message says in words, and the file in it: one reader a kind. Source: agents.md section 6.

What is no text by itself stands in square brackets, as in `[Location: …]`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from orchestrator.channels.whatsapp.additions import ADDITIONS
from orchestrator.channels.whatsapp.content_words import (
    ON_PHONE_ONLY,
    Content,
    at_ms,
    at_s,
    bracketed,
    counted,
    join_lines,
    joined,
    listed,
    minutes,
)
from orchestrator.channels.whatsapp.machine_answers import machine_answer
from orchestrator.channels.whatsapp.media import (
    audio_file,
    document_file,
    picture_file,
    sticker_file,
    video_file,
)
from orchestrator.channels.whatsapp.offers import OFFERS
from orchestrator.channels.whatsapp.payments import PAYMENTS
from orchestrator.channels.whatsapp.unwrapping import is_wrapper
from orchestrator.channels.whatsapp.vcard import vcard_words

SILENT: Final = frozenset(
    {
        "acp2SettingMessage", "bcallMessage", "botPlatformRegistrationSuccessMessage", "call", "chat",
        "fastRatchetKeySenderKeyDistributionMessage", "groupRootKeyShare", "keepInChatMessage",
        "limitSharingMessage", "messageContextInfo", "messageHistoryBundle", "messageHistoryNotice",
        "newsletterAdminProfileMessage", "newsletterAdminProfileStatusMessage", "pinInChatMessage",
        "protocolMessage", "requestPhoneNumberMessage", "rootSecretDistributeMessage",
        "senderKeyDistributionMessage", "statusLinkPreviewMetadata", "statusNotificationMessage",
        "stickerSyncRmrMessage",
    }
)  # fmt: skip
"""Fields by which clients talk to each other; no person said anything."""


def content_of(message: Any) -> Content | None:
    """What an unwrapped `Message` says; None if nobody said anything.

    A kind that is not known is named, and wakes nobody.
    """
    present = {field.name: value for field, value in message.ListFields()}
    for name, read in _READERS.items():
        if name in present and (content := read(present[name])) is not None:
            return content
    wrappers = {field.name for field, _ in message.ListFields() if is_wrapper(field)}
    unknown = sorted(present.keys() - _READERS.keys() - SILENT - wrappers)
    if not unknown and not _has_newer_part(message):
        return None
    text = bracketed("A message of a kind that cannot be shown here", "".join(unknown[:1]))
    return Content(text=text, is_context_only=True)


def _has_newer_part(message: Any) -> bool:
    """Whether it has a part that the installed library does not know; those of parts do not count."""
    rest = type(message)()
    rest.CopyFrom(message)
    for field, _ in message.ListFields():
        rest.ClearField(field.name)
    return bool(rest.ByteSize())


def _conversation(text: str) -> Content | None:
    return Content(text=text) if text else None


def _extended_text(message: Any) -> Content | None:
    return Content(text=message.text, context=message) if message.text else None


def _image(message: Any) -> Content:
    return Content(text=message.caption or "[Photo]", context=message, file=picture_file(message))


def _video(message: Any) -> Content:
    what = "GIF" if message.gifPlayback else f"Video, {minutes(message.seconds)}"
    return Content(text=message.caption or f"[{what}]", context=message, file=video_file(message))


def _round_video(message: Any) -> Content:
    text = f"[Video message, {minutes(message.seconds)}]"
    return Content(text=text, context=message, file=video_file(message))


def _audio(message: Any) -> Content:
    what = "Voice message" if message.PTT else "Audio"
    text = f"[{what}, {minutes(message.seconds)}]"
    return Content(text=text, context=message, file=audio_file(message))


def _document(message: Any) -> Content:
    text = message.caption or bracketed("Document", message.fileName or message.title)
    return Content(text=text, context=message, file=document_file(message))


def _sticker(message: Any) -> Content:
    words = joined(message.emojis, message.accessibilityLabel)
    return Content(text=bracketed("Sticker", words), context=message, file=sticker_file(message))


def _contact(message: Any) -> Content:
    return Content(
        text=bracketed("Contact", vcard_words(message.displayName, message.vcard)), context=message
    )


def _contacts(message: Any) -> Content:
    each = [vcard_words(contact.displayName, contact.vcard) for contact in message.contacts]
    return Content(text=listed("Contacts", message.displayName, each), context=message)


def _location(message: Any) -> Content:
    place = joined(message.name, message.address, _degrees(message), message.URL)
    what = "Live location" if message.isLive else "Location"
    return Content(text=join_lines(bracketed(what, place), message.comment), context=message)


def _live_location(message: Any) -> Content:
    text = join_lines(bracketed("Live location", _degrees(message)), message.caption)
    return Content(text=text, context=message)


def _degrees(place: Any) -> str:
    if not place.HasField("degreesLatitude") or not place.HasField("degreesLongitude"):
        return ""
    return f"{place.degreesLatitude:.6f}, {place.degreesLongitude:.6f}"


def _poll(message: Any) -> Content:
    what = "Poll, one answer" if message.selectableOptionsCount == 1 else "Poll"
    options = [option.optionName for option in message.options]
    return Content(text=listed(what, message.name, options), context=message)


def _poll_result(message: Any) -> Content:
    votes = [f"{vote.optionName}: {vote.optionVoteCount}" for vote in message.pollVotes]
    return Content(text=listed("Poll result", message.name, votes), context=message, is_context_only=True)


def _album(message: Any) -> Content:
    expected = joined(
        counted(message.expectedImageCount, "photo"), counted(message.expectedVideoCount, "video")
    )
    return Content(text=bracketed("Album", expected), context=message, is_context_only=True)


def _event(message: Any) -> Content:
    what = "Event, cancelled" if message.isCanceled else "Event"
    place = joined(message.location.name, message.location.address)
    facts = joined(message.name, at_s(message.startTime), place, message.joinLink)
    return Content(text=join_lines(bracketed(what, facts), message.description), context=message)


def _event_invite(message: Any) -> Content:
    what = "Event, cancelled" if message.isCanceled else "Invitation to an event"
    facts = joined(message.eventTitle, at_s(message.startTime), message.callLink)
    return Content(text=join_lines(bracketed(what, facts), message.caption), context=message)


def _group_invite(message: Any) -> Content:
    text = join_lines(bracketed("Invitation to the group", message.groupName), message.caption)
    return Content(text=text, context=message)


def _newsletter_invite(message: Any) -> Content:
    text = join_lines(bracketed("Invitation to the channel", message.newsletterName), message.caption)
    return Content(text=text, context=message)


def _scheduled_call(message: Any) -> Content:
    facts = joined(message.title, at_ms(message.scheduledTimestampMS))
    return Content(text=bracketed("Planned call", facts))


def _call_log(message: Any) -> Content:
    what = "Video call" if message.isVideo else "Call"
    length = minutes(message.durationSecs) if message.durationSecs else ""
    return Content(text=bracketed(what, length), is_context_only=True)


def _sticker_pack(message: Any) -> Content:
    facts = joined(message.name, message.publisher)
    return Content(text=join_lines(bracketed("Stickers", facts), message.caption), context=message)


def _music(message: Any) -> Content:
    facts = joined(message.embeddedMusic.title, message.embeddedMusic.author, message.songUri)
    return Content(text=bracketed("Music", facts), context=message)


def _answer(message: Any) -> Content | None:
    return Content(text=message.text, about=message.key.ID) if message.text else None


def _status_answer(message: Any) -> Content | None:
    return Content(text=message.text, about=message.originalStatusID.ID) if message.text else None


def _on_phone_only(message: Any) -> Content:
    return Content(text=ON_PHONE_ONLY, is_context_only=True)


def _for_later(message: Any) -> Content:
    return Content(text="[A message for later that cannot be read here]", is_context_only=True)


_READERS: Final[Mapping[str, Callable[[Any], Content | None]]] = MappingProxyType(
    {
        "conversation": _conversation,
        "extendedTextMessage": _extended_text,
        "imageMessage": _image,
        "videoMessage": _video,
        "ptvMessage": _round_video,
        "audioMessage": _audio,
        "documentMessage": _document,
        "stickerMessage": _sticker,
        "contactMessage": _contact,
        "contactsArrayMessage": _contacts,
        "locationMessage": _location,
        "liveLocationMessage": _live_location,
        **{f"pollCreationMessage{version}": _poll for version in ("", "V2", "V3", "V5", "V6")},
        "pollResultSnapshotMessage": _poll_result,
        "pollResultSnapshotMessageV3": _poll_result,
        "albumMessage": _album,
        **ADDITIONS,
        **OFFERS,
        "eventMessage": _event,
        "eventInviteMessage": _event_invite,
        "groupInviteMessage": _group_invite,
        "newsletterAdminInviteMessage": _newsletter_invite,
        "newsletterFollowerInviteMessageV2": _newsletter_invite,
        "scheduledCallCreationMessage": _scheduled_call,
        "callLogMesssage": _call_log,
        "stickerPackMessage": _sticker_pack,
        "musicMessage": _music,
        "questionResponseMessage": _answer,
        "statusQuestionAnswerMessage": _answer,
        "statusQuotedMessage": _status_answer,
        **PAYMENTS,
        "richResponseMessage": machine_answer,
        "placeholderMessage": _on_phone_only,
        "conditionalRevealMessage": _for_later,
    }
)
"""What a person may have said, in the order in which it counts where a message has several."""
