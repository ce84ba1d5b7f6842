"""`dovecote provider check`: what it finds, against a provider on this machine."""

import asyncio
import json
from pathlib import Path

import pytest

from orchestrator.cli.definition_lists import secrets_of
from orchestrator.cli.home import open_home
from orchestrator.cli.provider_trial import check
from orchestrator.commands.setup.secrets import set_secret
from tests.edges.cli.conftest import Dovecote
from tests.support.model_server import ModelServer, running_model_server

KEY = "sk-canary-of-the-lab"
LAB = """
[lab]
driver = "script"
auth_mode = "bound_secret"
slots = [{ name = "api_key", target_env = "LAB_KEY" }]
wire = "anthropic"
"""


def furnish(home: Path, base_url: str, *, key: str | None = KEY) -> None:
    """A home with the provider `lab`, and its credential."""
    (home / "providers.toml").write_text(f'{LAB}base_url = "{base_url}"\n')
    if key is not None:
        opened = open_home(home)
        opened.paths.ensure()
        asyncio.run(set_secret(secrets_of(opened), "providers/lab/api_key", key, in_file=True))


async def looked(home: Path, server: ModelServer, *, key: str | None) -> int:
    """What the check ends with, beside the server."""
    await asyncio.to_thread(furnish, home, server.url, key=key)
    return await asyncio.to_thread(check, home, "lab", as_json=True)


@pytest.mark.parametrize(
    ("key", "code", "healths", "said"),
    [
        (KEY, 0, ["ok", "ok"], "is answered"),
        ("sk-wrong", 1, ["ok", "failure"], "the credential is refused"),
        (None, 1, ["failure", "warning"], "not asked without a credential"),
    ],
)
async def test_a_credential_is_tried_at_the_provider_and_never_shown(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    key: str | None,
    code: int,
    healths: list[str],
    said: str,
) -> None:
    async with running_model_server(credential=KEY) as server:
        ended = await looked(home, server, key=key)
        asked = len(server.requests)

    shown = capsys.readouterr().out
    found = json.loads(shown)
    assert (ended, [finding["health"] for finding in found]) == (code, healths)
    assert said in found[-1]["why"]
    assert asked == (0 if key is None else 1)
    assert not any(word in shown for word in (KEY, "sk-wrong"))


def test_a_missing_credential_is_named_with_what_sets_it(home: Path, dovecote: Dovecote) -> None:
    furnish(home, "http://127.0.0.1:9", key=None)

    ended = dovecote("provider", "check", "lab")

    assert ended.returncode == 1
    assert "dovecote secret set providers/lab/api_key" in ended.stdout


def test_an_upstream_that_nobody_serves_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    furnish(home, "http://127.0.0.1:9")

    assert check(home, "lab", as_json=False) == 1
    shown = capsys.readouterr().out
    assert "takes no connection" in shown
    assert not any(sign in shown for sign in '{}"')  # no JSON where people read


def test_a_provider_without_a_network_is_well_and_one_that_is_not_there_is_named(
    home: Path, dovecote: Dovecote
) -> None:
    well, unknown = dovecote("provider", "check", "builtin"), dovecote("provider", "check", "cluade")

    assert (well.returncode, unknown.returncode) == (0, 1)
    assert "There is no provider 'cluade'." in unknown.stderr
