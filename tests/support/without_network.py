"""Programs where no network is."""

import os
import shutil
from collections.abc import Sequence

import pytest


def without_network(words: Sequence[str]) -> list[str]:
    """The command in a network namespace of its own; skips the test where nothing can make one."""
    if os.geteuid() == 0 and shutil.which("unshare"):
        return ["unshare", "--net", *words]
    if shutil.which("bwrap"):
        return ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", *words]
    pytest.skip("neither unshare as root nor bwrap is here to take the network away")
