"""Which messages the built-in driver answers, and what it hears when the address is taken out."""

import pytest

from container.drivers.addressing import Address, behind_address, readings, to_answer
from container.drivers.builtin_words import understand_first
from container.messages import Message

ASSISTANT = Address(name="Assistant")
GARDENER = Address(name="Assistant", word="@Gardener")
ANYWHERE = Address(name="Assistant", word="@Gardener", is_anywhere=True)
EXPRESSION = Address(name="Assistant", is_anywhere=True)


def messages(*texts: str, triggers: tuple[str, ...] | None = None) -> list[Message]:
    """One a text; with `triggers`, the host told that these texts triggered."""
    return [Message(text=text, is_trigger=None if triggers is None else text in triggers) for text in texts]


@pytest.mark.parametrize(
    ("address", "text", "rest"),
    [
        pytest.param(ASSISTANT, "@Assistant time", "time", id="the usual form"),
        pytest.param(ASSISTANT, "  @assistant: time", "time", id="white space, case and a colon"),
        pytest.param(ASSISTANT, "\u200b\u00a0@ASSISTANT,time", "time", id="invisible characters"),
        pytest.param(ASSISTANT, "Assistant, time", "time", id="the bare name with a comma"),
        pytest.param(ASSISTANT, "@Assistant", "", id="nothing behind it"),
        pytest.param(ASSISTANT, "@Assistant!", "!", id="a sign behind it"),
        pytest.param(ASSISTANT, "Assistant time", None, id="the bare name alone"),
        pytest.param(ASSISTANT, "@Assistants time", None, id="a longer name"),
        pytest.param(ASSISTANT, "@Assistant_2 time", None, id="a name that goes on"),
        pytest.param(ASSISTANT, "@Assistant\u0301 time", None, id="a mark behind it"),
        pytest.param(ASSISTANT, "time @Assistant", None, id="not at the start"),
        pytest.param(ASSISTANT, "", None, id="empty"),
        pytest.param(GARDENER, "@gardener time", "time", id="the word of the group"),
        pytest.param(GARDENER, "@Assistant time", "time", id="the name beside the word"),
        pytest.param(Address(name="A", word="Gardener"), "gardener time", "time", id="a word without @"),
        pytest.param(Address(name="A", word="Hey you"), "hey you time", "time", id="a word of two words"),
        pytest.param(
            Address(name="A", word="@Straße"), "@STRASSE time", "time", id="a sign that folds to two"
        ),
        pytest.param(Address(name="Ren\u00e9"), "@Rene\u0301 time", "time", id="a decomposed name"),
    ],
)
def test_a_message_is_addressed_by_its_beginning(address: Address, text: str, rest: str | None) -> None:
    assert behind_address(text, address) == rest


@pytest.mark.parametrize(
    ("texts", "triggers", "all_count", "answered"),
    [
        pytest.param(["a", "@Bot b", "c"], ("a", "c"), False, ["a", "c"], id="those that the host names"),
        pytest.param(["a", "@Bot b"], ("a",), True, ["a"], id="those alone, also where every message counts"),
        pytest.param(["a", "@Bot b", "c"], None, False, ["@Bot b"], id="older host: those that call it"),
        pytest.param(["a", "@Bot b"], None, True, ["a", "@Bot b"], id="older host: all where all count"),
        pytest.param(["a", "b"], None, False, [], id="older host: chatter is not answered"),
        pytest.param([], None, True, [], id="none where there is none"),
    ],
)
def test_exactly_the_messages_meant_for_it_are_answered(
    texts: list[str], triggers: tuple[str, ...] | None, all_count: bool, answered: list[str]
) -> None:
    batch = messages(*texts, triggers=triggers)

    chosen = to_answer(batch, Address(name="Bot"), all_count=all_count)

    assert [message.text for message in chosen] == answered


@pytest.mark.parametrize("is_trigger", [True, None])
def test_its_own_messages_are_never_answered(is_trigger: bool | None) -> None:
    own = Message(text="@Bot echo loop", role="assistant", is_trigger=is_trigger)

    assert to_answer([own], Address(name="Bot"), all_count=True) == []


@pytest.mark.parametrize(
    ("address", "text", "kind", "argument"),
    [
        pytest.param(GARDENER, "@Gardener remember milk", "remember", "milk", id="the word at the start"),
        pytest.param(GARDENER, "remember milk", "remember", "milk", id="a reply without the word"),
        pytest.param(
            GARDENER, "echo ask @Gardener first", "echo", "ask @Gardener first", id="the word as content"
        ),
        pytest.param(GARDENER, "hey @Gardener time", "time", "", id="the word where it does not count"),
        pytest.param(
            GARDENER, "@Ada remember milk", "unknown", "@Ada remember milk", id="somebody else's name"
        ),
        pytest.param(ANYWHERE, "hey @Gardener time", "time", "", id="words on both sides"),
        pytest.param(ANYWHERE, "time @Gardener", "time", "", id="at the end"),
        pytest.param(ANYWHERE, "what time is it, @gardener?", "time", "", id="at the end of a question"),
        pytest.param(ANYWHERE, "remember milk @Gardener", "remember", "milk", id="no part of the note"),
        pytest.param(ANYWHERE, "echo hi @Gardener", "echo", "hi", id="no part of the echo"),
        pytest.param(ANYWHERE, "Such a day! @Gardener, what time is it?", "time", "", id="the words after"),
        pytest.param(ANYWHERE, "files @Gardener my dear", "files", "", id="the words before"),
        pytest.param(
            ANYWHERE, "mail me@gardener.org, @Gardener time", "time", "", id="an address is no call"
        ),
        pytest.param(
            ANYWHERE, "こんにちは@Gardener time", "time", "", id="directly behind a letter without case"
        ),
        pytest.param(ANYWHERE, "recall", "recall", "", id="a reply where it counts anywhere"),
        pytest.param(ANYWHERE, "how nice @Gardener!", "unknown", "how nice !", id="nothing to do"),
        pytest.param(EXPRESSION, "@Foo time", "time", "", id="an expression: a mention at the start"),
        pytest.param(
            EXPRESSION, "@Bar: echo @Foo", "echo", "@Foo", id="an expression: only the first mention"
        ),
        pytest.param(EXPRESSION, "echo for @Foo", "echo", "for @Foo", id="an expression: nothing else"),
        pytest.param(EXPRESSION, "time", "time", "", id="an expression: a reply"),
    ],
)
def test_the_address_is_no_part_of_what_is_asked(
    address: Address, text: str, kind: str, argument: str
) -> None:
    wish = understand_first(readings(text, address))

    assert (wish.kind, wish.argument) == (kind, argument)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["@Gardener", "@Gardener ", "@Gardenerx ", " ", "\u200b", ",", "@", "ß"])
def test_a_long_message_takes_no_long_time(piece: str) -> None:
    text = piece * (64 * 1024 // len(piece.encode()))

    for address in (GARDENER, ANYWHERE, EXPRESSION):
        understand_first(readings(text, address))
