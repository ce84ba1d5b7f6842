"""The last good rules of each group: what is broken later changes nothing. Source: contracts.md section 6."""

import threading
from pathlib import Path

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.os_errors import advice_for
from orchestrator.contracts.records.senders import SenderLook, SenderRules
from orchestrator.settings.sender_rules import parse_sender_rules
from orchestrator.store.group_files import SENDERS_FILE, read_senders_file
from orchestrator.store.unsafe import UnsafeEntry


class SenderBook:
    """Reads the file at each look, so that a change needs no restart, and remembers what last was good."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._good: dict[GroupFolder, SenderRules] = {}

    def look(self, groups: Path, folder: GroupFolder) -> SenderLook:
        """What holds for a group now. A group without the file lets everybody trigger. Blocks."""
        where = f"groups/{folder}/{SENDERS_FILE}"
        try:
            raw = read_senders_file(groups, folder)
            rules = SenderRules() if raw is None else parse_sender_rules(raw, where=where)
        except InvalidSettings as error:
            return self._broken(folder, str(error))
        except UnsafeEntry as error:
            return self._broken(folder, f"{where}: {error.message} Put a plain file of your own there.")
        except FileNotFoundError:
            return self._without_folder(folder)
        except OSError as error:
            return self._broken(folder, f"{where} can't be read: {error.strerror}. {advice_for(error)}")
        with self._lock:
            if raw is None:
                # Nothing said so: a file that is broken when it first appears opens the group to nobody.
                self._good.pop(folder, None)
            else:
                self._good[folder] = rules
        return SenderLook(rules=rules)

    def _broken(self, folder: GroupFolder, trouble: str) -> SenderLook:
        with self._lock:
            return SenderLook(rules=self._good.get(folder), trouble=trouble)

    def _without_folder(self, folder: GroupFolder) -> SenderLook:
        """A folder that is gone is made again, without a file; what it said is not forgotten before."""
        with self._lock:
            return SenderLook(rules=self._good.get(folder, SenderRules()))
