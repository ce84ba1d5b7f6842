"""What sections of settings are made of."""

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


class Section(BaseModel):
    """Base of the sections: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
