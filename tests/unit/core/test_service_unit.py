"""The unit names this installation and this home, whatever is in their paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import InvalidRequest
from orchestrator.core.service_unit import ServiceUnit, change_within_s, home_of, unit_text


def _text(home: str = "/srv/dove", *, user: str | None = None, grace_s: float = 20) -> str:
    unit = ServiceUnit(
        program=("/opt/d/bin/dovecote",), home=home, user=user, path="/usr/bin", grace_s=grace_s
    )
    return unit_text(unit)


def test_it_runs_serve_with_full_paths_and_again_when_it_fails() -> None:
    lines = _text().splitlines()

    assert 'ExecStart="/opt/d/bin/dovecote" "serve" "--home" "/srv/dove"' in lines
    assert "Restart=on-failure" in lines
    assert "WantedBy=default.target" in lines


def test_a_unit_of_the_system_runs_as_the_owner_of_the_home() -> None:
    lines = _text(user="ada").splitlines()

    assert "User=ada" in lines
    assert "WantedBy=multi-user.target" in lines


def test_a_stop_is_given_the_grace_and_what_it_takes_beside() -> None:
    assert "TimeoutStopSec=340" in _text(grace_s=300).splitlines()


def test_nothing_in_it_breaks_the_walls_of_agents_or_programs_that_change_their_user() -> None:
    names = {line.partition("=")[0] for line in _text().splitlines()}

    # Each either implies NoNewPrivileges, or hides or freezes what bubblewrap and the engine set up.
    assert not names & {
        "NoNewPrivileges",
        "PrivateTmp",
        "PrivateUsers",
        "ProtectControlGroups",
        "ProtectKernelTunables",
        "ProtectProc",
        "RestrictNamespaces",
        "SystemCallFilter",
    }


def test_a_percent_a_dollar_a_quote_and_a_backslash_stay_what_they_are() -> None:
    lines = _text('/srv/100% "$HOME"\\x').splitlines()

    # systemd.unit(5): %% is a percent sign. systemd.service(5): $$ is a dollar sign in a command line.
    assert lines[lines.index("[Service]") + 2].endswith(r'"/srv/100%% \"$$HOME\"\\x"')
    assert 'WorkingDirectory=/srv/100%% "$HOME"\\x' in lines


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_the_home_is_read_back_or_refused(name: str) -> None:
    home = f"/srv/{name}"
    try:
        text = _text(home)
    except InvalidRequest:
        assert not home.isprintable() or home != home.strip()
    else:
        assert home_of(text) == home


@given(st.floats(min_value=0, max_value=100_000))
def test_a_stop_is_waited_for_longer_than_systemd_gives_it(grace_s: float) -> None:
    text = _text(grace_s=grace_s)

    (stop_s,) = [line.partition("=")[2] for line in text.splitlines() if line.startswith("TimeoutStopSec=")]
    within_s = change_within_s(text)
    assert within_s is not None
    assert within_s >= int(stop_s) + 60


@pytest.mark.parametrize("word", ["5min 20s", "infinity", ""])
def test_a_stop_that_an_operator_bounds_in_other_words_is_waited_for_to_its_end(word: str) -> None:
    assert change_within_s(f"[Service]\nTimeoutStopSec={word}\n") is None


_OWN = """[Unit]
Description=Dovecote by hand

[Service]
ExecStart=/usr/bin/tail -f /srv/dove/data/logs/dovecote.log
WorkingDirectory=/srv/dove
"""


@pytest.mark.parametrize(
    "text", ["", "[Service]\nExecStart=/bin/true\n", _OWN], ids=["empty", "another's", "an operator's"]
)
def test_another_unit_serves_no_home_of_ours(text: str) -> None:
    assert home_of(text) is None
