"""A request as it came."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.model_server.asked import Asked


@dataclass(slots=True, kw_only=True)
class Received:
    """headers: by lower-case name; header_lines: all of them, in order, repeated ones too.

    asked: of a model's call that could be read. status: what it was answered with; None: nothing yet.
    is_over: the answer has ended, or its connection has.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    header_lines: tuple[tuple[str, str], ...]
    body: bytes
    asked: Asked | None = None
    status: int | None = None
    is_over: bool = False

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)
