"""One answer, the same for every wire format."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """calls: the name and arguments of each tool that is called. stop: the provider's own word.
    tokens: of the question without the cache, of the answer, read from the cache."""

    text: str
    thought: str
    calls: tuple[tuple[str, object], ...]
    stop: str | None
    tokens: tuple[int, int, int]
