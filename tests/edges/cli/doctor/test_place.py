"""Faults of files: what others can read, what was refused, providers that can't be read."""

import json
import os

import pytest

from orchestrator.cli.findings import Health
from orchestrator.cli.provider_checks import check_providers
from orchestrator.cli.refusal_checks import check_refusals
from orchestrator.cli.secret_checks import check_secrets
from orchestrator.ipc.quarantine import MAX_ENTRIES
from orchestrator.settings.tree import AgentSettings, Settings
from orchestrator.store.refusals import BOX_SUFFIX, ERRORS, REASON_SUFFIX
from orchestrator.store.secret_files import Keeping, SecretFiles
from tests.edges.cli.doctor.conftest import SickHome, assert_names


@pytest.mark.parametrize(
    "name", ["secrets", "secrets/providers/x/key.secret", "keys", "operator.token", "whatsapp.db"]
)
def test_a_credential_that_others_can_read_is_a_failure(home: SickHome, name: str) -> None:
    SecretFiles(home.paths.secrets).write("providers/x/key", Keeping.FILE, "s3cret")
    for other in (home.paths.keys, home.paths.operator_token, home.paths.whatsapp_session):
        other.touch(mode=0o600)
    before = check_secrets(home.patient())
    path = home.paths.store / name
    path.chmod(0o755)

    found = check_secrets(home.patient())

    assert before.health is Health.OK
    assert_names(
        found, Health.FAILURE, f"Other users of this machine can read {path}", f"chmod go-rwx {path}"
    )
    assert "s3cret" not in found.why


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_credential_of_another_user_is_a_failure(home: SickHome) -> None:
    home.paths.keys.touch(mode=0o600)
    os.chown(home.paths.keys, 12345, 12345)

    assert_names(check_secrets(home.patient()), Health.FAILURE, "belongs to another user", "sudo chown")


def refuse(home: SickHome, box: str, *, count: int, hours: float) -> None:
    """So many refusals of a box, so long ago."""
    folder = home.paths.ipc / ERRORS / box
    folder.mkdir(parents=True, exist_ok=True)
    ms = int(home.ago(hours=hours).timestamp() * 1000)
    for number in range(count):
        (folder / f"{ms}-{number:06}-tasks-x.json{REASON_SUFFIX}").write_text(json.dumps({"box": box}))


def test_requests_that_were_refused_lately_are_named_with_their_box(home: SickHome) -> None:
    before = check_refusals(home.patient())
    refuse(home, "old", count=3, hours=30)
    old = check_refusals(home.patient())
    refuse(home, "work", count=1, hours=1)
    refuse(home, "family", count=2, hours=1)

    found = check_refusals(home.patient())

    assert (before.health, old.health) == (Health.OK, Health.OK)
    assert_names(found, Health.WARNING, "3 requests of agents were refused", "dovecote errors --box family")


def test_a_full_quarantine_is_named(home: SickHome) -> None:
    refuse(home, "family", count=MAX_ENTRIES, hours=90)

    found = check_refusals(home.patient())

    assert_names(
        found, Health.WARNING, f"{MAX_ENTRIES} refused requests are kept", "dovecote errors --box family"
    )


def test_a_box_that_was_set_aside_is_named(home: SickHome) -> None:
    (home.paths.ipc / ERRORS / "family" / f"1-abc{BOX_SUFFIX}").mkdir(parents=True)

    found = check_refusals(home.patient())

    assert_names(found, Health.WARNING, "The whole box family was set aside", str(home.paths.ipc / ERRORS))


@pytest.mark.parametrize(
    ("text", "health", "why"),
    [
        ("[mine\n", Health.FAILURE, "providers.toml"),
        ('[mine]\ndriver = "of course"\n', Health.WARNING, "The provider mine can't be used"),
        ("", Health.OK, "agents have builtin"),
    ],
    ids=["no TOML", "one that is wrong", "none of its own"],
)
def test_providers_that_can_not_be_read_are_named(
    home: SickHome, text: str, health: Health, why: str
) -> None:
    home.paths.providers_file.write_text(text)

    found = check_providers(home.patient())

    assert_names(found, health, why, "")
    assert (found.mend is None) == (health is Health.OK)


def test_a_usual_provider_that_there_is_not_is_a_failure(home: SickHome) -> None:
    found = check_providers(home.patient(settings=Settings(agent=AgentSettings(provider="nobody"))))

    assert_names(found, Health.FAILURE, "There is no provider 'nobody'", "dovecote provider list")
