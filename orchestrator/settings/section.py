"""What sections of settings are made of."""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict

MIB: Final = 1024**2


def _no_truth_as_number(value: object) -> object:
    """`true` is no number, although Python counts it as one."""
    if isinstance(value, bool):
        raise ValueError("is not a number")
    return value


Whole = Annotated[int, BeforeValidator(_no_truth_as_number)]
Number = Annotated[float, BeforeValidator(_no_truth_as_number)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """What a setting with several values holds. example: as it is written."""

    what: str
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOf:
    """What a setting holds that is a table of tables. example: how one begins."""

    what: str
    example: str


def program_first(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command, of which the first names a program. Raises ValueError."""
    if (words and not words[0].strip()) or any("\0" in word for word in words):
        raise ValueError("does not begin with the name of a program")
    return words


class Section(BaseModel):
    """Base of the sections: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
