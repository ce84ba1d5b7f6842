"""Credentials at rest: private files, or a keyring that may hang; never more than one of both."""

import os
import stat
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import DovecoteError, InvalidRequest, NotFound, Unavailable
from orchestrator.contracts.secret_names import secret_name, secret_text
from orchestrator.store.keyring_entries import Keyring, KeyringEntries
from orchestrator.store.secret_files import Keeping
from orchestrator.store.secret_values import SecretKeeper

NAME = "providers/claude/api_key"
VALUE = "sk-canary-1"


@dataclass
class KeyringInMemory:
    """A system's keyring. locked: it asks somebody who never comes."""

    entries: dict[tuple[str, str], str] = field(default_factory=dict)
    locked: bool = False
    loses: bool = False
    never: threading.Event = field(default_factory=threading.Event)

    def get_password(self, service: str, name: str, /) -> str | None:
        self._wait()
        return self.entries.get((service, name))

    def set_password(self, service: str, name: str, value: str, /) -> None:
        self._wait()
        if not self.loses:
            self.entries[service, name] = value

    def delete_password(self, service: str, name: str, /) -> None:
        self._wait()
        del self.entries[service, name]

    def _wait(self) -> None:
        if self.locked:
            self.never.wait()


def keeper(path: Path, keyring: Keyring | None = None) -> SecretKeeper:
    """The secrets below a directory."""
    return SecretKeeper(path / "secrets", environment={}, find_keyring=lambda: keyring)


async def value_of(secrets: SecretKeeper, ref: str = f"secret:{NAME}") -> str | None:
    """What a reference stands for, in clear."""
    found = await secrets.get(ref)
    return None if found is None else found.reveal()


def modes_below(path: Path) -> dict[str, int]:
    """The permission bits of every file and directory."""
    return {
        str(each.relative_to(path)): stat.S_IMODE(each.lstat().st_mode) for each in sorted(path.rglob("*"))
    }


def files_below(path: Path) -> list[bytes]:
    """What all files hold."""
    return [each.read_bytes() for each in path.rglob("*") if each.is_file()]


async def test_a_secret_is_a_file_that_only_we_can_read_whatever_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        keeper(tmp_path).set(NAME, VALUE)
    finally:
        os.umask(umask)

    assert modes_below(tmp_path) == {
        "secrets": 0o700,
        "secrets/providers": 0o700,
        "secrets/providers/claude": 0o700,
        f"secrets/{NAME}.secret": 0o600,
    }
    assert await value_of(keeper(tmp_path)) == VALUE


async def test_a_secret_that_is_set_again_replaces_the_one_before_and_one_removed_is_gone(
    tmp_path: Path,
) -> None:
    secrets = keeper(tmp_path)
    secrets.set(NAME, VALUE)
    secrets.set(NAME, "another")
    replaced = await value_of(secrets)
    secrets.remove(NAME)

    assert (replaced, await value_of(secrets)) == ("another", None)
    assert files_below(tmp_path) == []
    with pytest.raises(NotFound, match=NAME):
        secrets.remove(NAME)


def test_the_list_has_names_and_times_and_no_values(tmp_path: Path) -> None:
    secrets = keeper(tmp_path)
    secrets.set(NAME, VALUE)
    secrets.set("providers/claude/api.key", VALUE)

    known = secrets.known()

    assert [each.name for each in known] == ["providers/claude/api.key", NAME]
    assert VALUE not in repr(known)
    assert keeper(tmp_path / "nowhere").known() == []


@pytest.mark.parametrize(("text", "value"), [(None, None), ("", None), (f" {VALUE}\n", VALUE)])
async def test_a_variable_of_the_orchestrators_own_environment_is_a_secret_too(
    tmp_path: Path, text: str | None, value: str | None
) -> None:
    environment = {} if text is None else {"KEY": text}

    assert await value_of(SecretKeeper(tmp_path, environment=environment), "env:KEY") == value


async def test_with_a_keyring_no_file_holds_the_value(tmp_path: Path) -> None:
    keyring = KeyringInMemory()
    secrets = keeper(tmp_path, keyring)

    assert secrets.set(NAME, VALUE) is Keeping.KEYRING
    assert files_below(tmp_path) == [b""]
    assert await value_of(secrets) == VALUE
    secrets.remove(NAME)
    assert (keyring.entries, await value_of(secrets)) == ({}, None)


async def test_two_homes_share_no_entry_of_one_keyring(tmp_path: Path) -> None:
    keyring = KeyringInMemory()
    for name in ("a", "b"):
        os.mkdir(tmp_path / name)
    keeper(tmp_path / "a", keyring).set(NAME, VALUE)
    keeper(tmp_path / "b", keyring).set(NAME, "another")

    assert await value_of(keeper(tmp_path / "a", keyring)) == VALUE


async def test_a_secret_that_moves_into_a_file_leaves_nothing_in_the_keyring(tmp_path: Path) -> None:
    keyring = KeyringInMemory()
    secrets = keeper(tmp_path, keyring)
    secrets.set(NAME, VALUE)

    assert secrets.set(NAME, "another", in_file=True) is Keeping.FILE
    assert (await value_of(secrets), len(secrets.known()), keyring.entries) == ("another", 1, {})


async def test_a_keyring_that_is_gone_is_said_and_is_not_the_same_as_no_secret(tmp_path: Path) -> None:
    keeper(tmp_path, KeyringInMemory()).set(NAME, VALUE)

    with pytest.raises(Unavailable, match="keyring") as raised:
        await value_of(keeper(tmp_path))

    assert "--in-file" in (raised.value.suggestion or "")


def test_a_keyring_that_asks_somebody_who_never_comes_is_given_up() -> None:
    keyring = KeyringInMemory(locked=True)
    door = KeyringEntries(keyring, "dovecote", within_s=0.05)

    try:
        with pytest.raises(Unavailable, match="did not answer"):
            door.get(NAME)
    finally:
        keyring.never.set()


def test_a_keyring_that_fails_or_loses_what_it_took_is_said_without_the_value() -> None:
    broken = KeyringEntries(KeyringInMemory(), "dovecote")
    with pytest.raises(Unavailable, match="KeyError"):
        broken.remove(NAME)

    with pytest.raises(Unavailable, match="did not keep") as raised:
        KeyringEntries(KeyringInMemory(loses=True), "dovecote").put(NAME, VALUE)

    assert VALUE not in str(raised.value)


def test_a_link_in_the_place_of_a_secret_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("not a secret")
    secrets = keeper(tmp_path)
    secrets.set(NAME, VALUE)
    path = tmp_path / "secrets" / f"{NAME}.secret"
    path.unlink()
    path.symlink_to(elsewhere)

    with pytest.raises(Unavailable, match="can't be read"):
        secrets.look_up(NAME)
    secrets.set(NAME, "another")
    assert (elsewhere.read_text(), path.is_symlink()) == ("not a secret", False)


def test_what_cannot_be_written_is_said_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("a file")

    with pytest.raises(DovecoteError, match="secrets"):
        keeper(tmp_path).set(NAME, VALUE)


@pytest.mark.parametrize("text", [NAME, f"secret:{NAME}", "providers/a/b", "providers/a.b-c_d/0"])
def test_a_name_is_a_provider_and_a_slot(text: str) -> None:
    assert secret_name(text) == text.removeprefix("secret:")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "api_key",
        "claude/api_key",
        "providers/claude",
        "providers/claude/",
        "providers//api_key",
        "providers/claude/api_key/x",
        "providers/../api_key",
        "providers/claude/..",
        "providers/claude/.hidden",
        "Providers/claude/api_key",
        "providers/Claude/api_key",
        "/providers/claude/api_key",
        "providers/claude/api\nkey",
        "providers/claude/api_key\n",
        "providers/claude/" + "x" * 65,
    ],
)
def test_other_words_name_no_secret(text: str) -> None:
    with pytest.raises(InvalidRequest, match="no name of a secret"):
        secret_name(text)


@given(st.text(max_size=80) | st.text("a./-_\\\0provides", max_size=60).map("providers/".__add__))
def test_no_name_leads_out_of_the_directory_of_secrets(text: str) -> None:
    try:
        name = secret_name(text)
    except InvalidRequest:
        return
    parts = name.split("/")
    assert len(parts) == 3
    assert not {"", ".", ".."} & set(parts)
    assert name.isascii()
    assert name.isprintable()


@pytest.mark.parametrize("typed", [VALUE, f"{VALUE}\n", f"  {VALUE}\r\n"])
def test_of_what_is_typed_only_the_space_around_it_is_left_out(typed: str) -> None:
    assert secret_text(typed) == VALUE


@pytest.mark.parametrize("typed", ["", " \n", "sk-canary\nsk-2", "sk-canary\0", "sk-canaré", "c" * 8193])
def test_what_no_header_can_hold_is_no_secret_and_is_never_shown(typed: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        secret_text(typed)

    assert "canar" not in str(raised.value)
