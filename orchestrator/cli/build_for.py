"""For which walls `dovecote image build` works."""

from enum import StrEnum


class BuildFor(StrEnum):
    """Where agents are to find their programs."""

    DOCKER = "docker"
    BUBBLEWRAP = "bubblewrap"
    BOTH = "both"
