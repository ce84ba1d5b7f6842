"""The operator's credentials: set, listed by name, removed. No value ever comes back from here.

They are files of their own, so none of this needs the store or a running orchestrator.
"""

import asyncio
import contextlib
from collections.abc import Mapping

from orchestrator.commands.setup.definitions import agent_file, load_providers
from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.records.providers import SECRET_REFERENCE
from orchestrator.contracts.secret_names import secret_name, secret_text
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.group_folders import AGENT_FILE
from orchestrator.store.secret_files import Keeping, KnownSecret
from orchestrator.store.secret_values import SecretKeeper


async def set_secret(keeper: SecretKeeper, name: str, typed: str, *, in_file: bool) -> Keeping:
    """Keep a credential in the place of the one before; where it went.

    in_file: not in the system's keyring, also where there is one. Raises InvalidRequest, Unavailable.
    """
    known, value = secret_name(name), secret_text(typed)
    return await asyncio.to_thread(lambda: keeper.set(known, value, in_file=in_file))


async def remove_secret(keeper: SecretKeeper, name: str) -> None:
    """Forget a credential. Raises InvalidRequest, NotFound, Unavailable."""
    known = secret_name(name)
    await asyncio.to_thread(lambda: keeper.remove(known))


async def list_secrets(keeper: SecretKeeper) -> list[Mapping[str, object]]:
    """Names, when each was set, and where it is kept."""
    return [_plain(each) for each in await asyncio.to_thread(keeper.known)]


def wanted_secrets(paths: Paths, settings: Settings) -> frozenset[str]:
    """The names that providers and definitions ask for; those that can't be read ask for none. Blocks."""
    refs: list[str] = []
    with contextlib.suppress(InvalidSettings):
        providers = load_providers(paths, settings).known.values()
        refs += [slot.secret_ref for provider in providers for slot in provider.slots]
    for file in paths.groups.glob(f"*/{AGENT_FILE}"):
        with contextlib.suppress(InvalidSettings):
            refs.append(agent_file(paths.groups, file.parent.name).fields.github_token or "")
    return frozenset(ref.removeprefix(SECRET_REFERENCE) for ref in refs if ref.startswith(SECRET_REFERENCE))


def _plain(secret: KnownSecret) -> Mapping[str, object]:
    return {
        "name": secret.name,
        "setAt": secret.set_at.isoformat(timespec="seconds"),
        "keptIn": "keyring" if secret.keeping is Keeping.KEYRING else "file",
    }
