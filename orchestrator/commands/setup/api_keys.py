"""Named keys for programs outside: made by the operator, shown once, stored as a hash, gone at once.

Source: agents.md section 1.
"""

import hashlib
import re
import secrets
from collections.abc import Collection, Mapping
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.errors import Conflict, Forbidden, InvalidRequest, NotFound
from orchestrator.contracts.faults import refusal_noted, refuse_any
from orchestrator.contracts.records.tokens import ApiKey, Scope
from orchestrator.store import api_keys

KEY_PREFIX: Final = "dvk_"
_KEY_BYTES: Final = 32
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


async def add_api_key(services: Services, name: str, scopes: Collection[str]) -> Mapping[str, object]:
    """Make a key; `key` of the answer is shown this once. Raises InvalidRequest, Conflict."""
    wrong: list[InvalidRequest] = []
    wanted: frozenset[Scope] = frozenset()
    if not _NAME.fullmatch(name):
        mend = "Use up to 64 of a-z, 0-9, dot, dash and underscore, a letter or a digit first."
        wrong.append(InvalidRequest(f"{name[:80]!r} can't be the name of a key.", suggestion=mend))
    with refusal_noted(wrong):
        wanted = _scopes(scopes)
    refuse_any(wrong)
    key = ApiKey(name=name, scopes=wanted, created_at=services.clock.now())
    secret = KEY_PREFIX + secrets.token_urlsafe(_KEY_BYTES)
    if not await services.db.run(lambda tx: api_keys.add(tx, key, _fingerprint(secret))):
        raise Conflict(
            f"There is an API key {name!r} already.",
            suggestion=f"Choose another name, or remove that one: dovecote api-key remove {name}",
        )
    return {**_view(key), "key": secret}


async def list_api_keys(services: Services) -> list[Mapping[str, object]]:
    """Every key by name, with what it may; never the key itself."""
    async with services.db.reader() as reader:
        return [_view(each) for each in await api_keys.list_keys(reader)]


async def remove_api_key(services: Services, name: str) -> Mapping[str, object]:
    """Make a key void from now on. Raises NotFound."""
    if not await services.db.run(lambda tx: api_keys.remove(tx, name)):
        raise NotFound(
            f"There is no API key {name[:80]!r}.", suggestion="See their names: dovecote api-key list"
        )
    return {"name": name}


async def caller_of_key(services: Services, offered: str) -> KeyCaller | None:
    """Who has this key; None if nobody does. Compared by hash, so that the time it takes tells nothing."""
    if not offered.startswith(KEY_PREFIX):
        return None
    async with services.db.reader() as reader:
        key = await api_keys.find(reader, _fingerprint(offered))
    return None if key is None else KeyCaller(name=key.name, scopes=key.scopes)


def check_scope(caller: OperatorCaller | KeyCaller, scope: Scope) -> None:
    """Return if the caller may do what `scope` stands for. Raises Forbidden."""
    if isinstance(caller, KeyCaller) and not caller.scopes & {scope, Scope.MANAGE}:
        raise Forbidden(
            f"The API key {caller.name!r} lacks the scope {scope.value!r}.",
            suggestion="Ask the operator for a key that has it.",
        )


def _scopes(words: Collection[str]) -> frozenset[Scope]:
    known = {each.value: each for each in Scope}
    strange = sorted(set(words) - known.keys())
    if strange or not words:
        named = ", ".join(repr(word[:80]) for word in strange)
        what = f"There is no scope {named}." if strange else "A key needs a scope."
        raise InvalidRequest(
            what, suggestion=f"The scopes are {', '.join(known)}; manage is all that the operator may."
        )
    return frozenset(known[word] for word in words)


def _fingerprint(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _view(key: ApiKey) -> Mapping[str, object]:
    return {
        "name": key.name,
        "scopes": sorted(each.value for each in key.scopes),
        "createdAt": key.created_at.isoformat(timespec="seconds"),
    }
