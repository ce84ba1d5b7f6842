"""Which hints this system can give."""

import sys

from orchestrator.ipc.hints import Hints


def system_hints() -> Hints:
    """Hints by inotify on Linux, by watchfiles elsewhere; each library is loaded only where it is used."""
    if sys.platform == "linux":
        from orchestrator.ipc.inotify_hints import InotifyHints

        return InotifyHints()
    from orchestrator.ipc.watchfiles_hints import WatchfilesHints

    return WatchfilesHints()
