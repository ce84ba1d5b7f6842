"""Phone numbers as people write them, and as accounts hold them."""

import unicodedata
from typing import Final

from orchestrator.contracts.errors import InvalidRequest
from orchestrator.core.text_cleaning import clean_text

_DIGITS: Final = "0123456789"


def number_of(phone: str) -> str:
    """The digits of a number that was written with its country. Raises InvalidRequest.

    A zero in brackets behind the country is one that nobody dials from abroad.
    """
    plain = "".join(each for each in phone if unicodedata.category(each) != "Cf")  # marks of address books
    head, _, tail = plain.partition("(0)")
    written = head + tail if set(head) & set(_DIGITS[1:]) else plain
    digits = "".join(each for each in written if each in _DIGITS).removeprefix("00")
    is_number = all(each in _DIGITS or each in "+-./()" or _is_gap(each) for each in written)
    if not is_number or not 7 <= len(digits) <= 15 or digits.startswith("0"):
        raise InvalidRequest(
            f"{clean_text(phone)!r} is not a phone number.",
            suggestion="Give it with its country, such as +491701234567.",
        )
    return digits


def _is_gap(sign: str) -> bool:
    """Spaces and dashes, as word processors write them too."""
    return unicodedata.category(sign) in ("Zs", "Pd")


def account_number(account: str) -> str:
    """The number of an account and its device, such as `491701234567:3@s.whatsapp.net`."""
    return account.partition("@")[0].partition(":")[0].partition(".")[0]
