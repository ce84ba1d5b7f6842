"""Session tokens as values: what is signed, what is refused, how long they live."""

import base64
import dataclasses
import hashlib
import hmac
import json
import string
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.spawns import WishedPermissions
from orchestrator.contracts.records.tokens import SessionToken, TokenFault, TokenPermissions, TokenSubject
from orchestrator.core.agents.rights import narrow
from orchestrator.core.agents.tokens import (
    BadToken,
    claimed_agent,
    fingerprint,
    is_due,
    issue,
    may_spawn,
    sealed,
    shown,
    subject_of,
    unsealed,
)
from tests.support.store_rows import agent

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
SECRET = bytes(range(32))
KEYS = {"key-one": SECRET, "key-two": b"\x01" * 32}
AT = datetime(2026, 1, 1, tzinfo=UTC)

SUBJECT = TokenSubject(
    agent_id=AgentId("agent-abc"),
    tree_id=TreeId("tree-abc"),
    parent_agent_id=None,
    depth=0,
    max_depth=2,
    permissions=TokenPermissions(can_spawn=True, inherit_github_token=False),
)

permissions = st.builds(TokenPermissions, can_spawn=st.booleans(), inherit_github_token=st.booleans())
subjects = st.builds(
    TokenSubject,
    agent_id=st.builds(AgentId, st.text(string.ascii_lowercase + "-", min_size=1, max_size=30)),
    tree_id=st.builds(TreeId, st.text(string.ascii_lowercase + "-", min_size=1, max_size=30)),
    parent_agent_id=st.none() | st.builds(AgentId, st.text(string.ascii_lowercase, min_size=1)),
    depth=st.integers(0, 10),
    max_depth=st.integers(0, 10),
    permissions=permissions,
)
tokens = st.builds(
    SessionToken,
    value=st.binary(min_size=32, max_size=32).map(bytes.hex),
    key_id=st.sampled_from(sorted(KEYS)),
    subject=subjects,
    issued_at_ms=st.integers(0, 2**45),
    expires_at_ms=st.integers(0, 2**45),
)


def a_token(*, now_ms: int = 0, deadline_ms: int | None = None) -> SessionToken:
    return issue(SUBJECT, value="ab" * 32, key_id="key-one", now_ms=now_ms, deadline_ms=deadline_ms)


@given(tokens)
def test_what_was_sealed_comes_back_whole(token: SessionToken) -> None:
    assert unsealed(sealed(token, KEYS[token.key_id]), KEYS) == token


@given(tokens, st.data())
def test_a_token_that_was_changed_anywhere_is_refused(token: SessionToken, data: st.DataObject) -> None:
    text = sealed(token, KEYS[token.key_id])
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from(sorted(set(string.printable) - {text[place]})))
    changed = text[:place] + other + text[place + 1 :]

    with pytest.raises(BadToken):
        unsealed(changed, KEYS)


@given(tokens, st.data())
def test_a_token_that_was_cut_or_lengthened_is_refused(token: SessionToken, data: st.DataObject) -> None:
    text = sealed(token, KEYS[token.key_id])
    shorter = text[: data.draw(st.integers(0, len(text) - 1))]
    longer = text + data.draw(st.text(min_size=1, max_size=10))

    for changed in (shorter, longer):
        with pytest.raises(BadToken):
            unsealed(changed, KEYS)


@given(st.text(max_size=200) | st.text(max_size=80).map(lambda tail: f"dvt1.key-one.{tail}"))
def test_any_text_is_refused_without_a_fault_of_ours(text: str) -> None:
    with pytest.raises(BadToken):
        unsealed(text, KEYS)
    claimed_agent(text)


@given(tokens)
def test_a_signature_of_another_key_is_none(token: SessionToken) -> None:
    text = sealed(token, b"\x07" * 32)

    with pytest.raises(BadToken) as refused:
        unsealed(text, KEYS)

    assert refused.value.fault is TokenFault.SIGNATURE


def test_a_key_that_left_the_ring_signs_nothing() -> None:
    with pytest.raises(BadToken) as refused:
        unsealed(sealed(a_token(), SECRET), {"key-two": SECRET})

    assert refused.value.fault is TokenFault.KEY_UNKNOWN


def test_the_signature_is_hmac_sha256_over_the_fields_of_the_source_document() -> None:
    text = sealed(a_token(now_ms=1_000), SECRET)

    head, _, signature = text.rpartition(".")
    assert signature == hmac.new(SECRET, head.encode(), hashlib.sha256).hexdigest()
    claims = head.split(".")[2]
    assert json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))) == {
        "token": "ab" * 32,
        "agentId": "agent-abc",
        "treeId": "tree-abc",
        "parentAgentId": None,
        "depth": 0,
        "maxDepth": 2,
        "issuedAt": 1_000,
        "expiresAt": 1_000 + HOUR_MS,
        "permissions": {"canSpawn": True, "inheritGitHubToken": False},
    }


def test_an_operator_is_shown_every_field_but_the_secret_ones() -> None:
    seen = shown(a_token())

    assert {"agentId", "treeId", "parentAgentId", "depth", "maxDepth", "issuedAt", "expiresAt"} <= seen.keys()
    assert "ab" * 32 not in json.dumps(seen)
    assert {"token", "signature"} & seen.keys() == set()


def test_claims_that_are_no_token_are_refused_though_they_are_signed() -> None:
    claims = base64.urlsafe_b64encode(b'{"agentId": "agent-abc"}').rstrip(b"=").decode()
    head = f"dvt1.key-one.{claims}"
    text = f"{head}.{hmac.new(SECRET, head.encode(), hashlib.sha256).hexdigest()}"

    with pytest.raises(BadToken) as refused:
        unsealed(text, KEYS)

    assert refused.value.fault is TokenFault.MALFORMED


@given(now_ms=st.integers(0, 2**45), left_ms=st.none() | st.integers(1, 30 * DAY_MS))
def test_a_token_lives_an_hour_and_never_longer_than_its_agent(now_ms: int, left_ms: int | None) -> None:
    deadline_ms = None if left_ms is None else now_ms + left_ms

    token = a_token(now_ms=now_ms, deadline_ms=deadline_ms)

    assert token.expires_at_ms == now_ms + min(HOUR_MS, HOUR_MS if left_ms is None else left_ms)


@given(st.integers(1, 23))
def test_each_renewal_is_good_for_an_hour_again_up_to_the_end_of_the_run(hours: int) -> None:
    last = [a_token(now_ms=each * HOUR_MS // 2, deadline_ms=DAY_MS) for each in range(2 * hours)][-1]

    assert last.expires_at_ms > (hours - 1) * HOUR_MS + HOUR_MS // 2
    assert last.expires_at_ms <= DAY_MS


@pytest.mark.parametrize(
    ("age_min", "life_min", "left_of_run_min", "expected"),
    [
        (29, 60, None, False),
        (30, 60, None, True),
        (61, 60, None, True),
        (30, 60, 600, True),
        (45, 60, 15, False),  # it is good to the end of its run
        (5, 10, 6, True),
    ],
)
def test_a_token_is_renewed_half_of_its_life_before_its_end(
    age_min: int, life_min: int, left_of_run_min: int | None, expected: bool
) -> None:
    issued = AT - timedelta(minutes=age_min)
    deadline = None if left_of_run_min is None else AT + timedelta(minutes=left_of_run_min)

    due = is_due(issued, issued + timedelta(minutes=life_min), now=AT, deadline_at=deadline)

    assert due is expected


@pytest.mark.parametrize(
    ("can_spawn", "depth", "max_depth", "expected"),
    [(True, 0, 2, True), (True, 1, 2, True), (True, 2, 2, False), (True, 0, 0, False), (False, 0, 2, False)],
)
def test_only_an_agent_that_may_start_others_has_use_for_a_token(
    can_spawn: bool, depth: int, max_depth: int, expected: bool
) -> None:
    subject = dataclasses.replace(
        SUBJECT,
        depth=depth,
        max_depth=max_depth,
        permissions=TokenPermissions(can_spawn=can_spawn, inherit_github_token=False),
    )

    assert may_spawn(subject) is expected


@given(tokens, tokens)
def test_the_store_tells_tokens_apart_without_knowing_them(one: SessionToken, other: SessionToken) -> None:
    assert (fingerprint(one) == fingerprint(other)) == (one.value == other.value)
    assert fingerprint(one) == hashlib.sha256(one.value.encode()).digest()


@given(
    st.lists(
        st.builds(
            WishedPermissions,
            can_spawn=st.none() | st.booleans(),
            chat=st.none() | st.booleans(),
            inherit_github_token=st.none() | st.booleans(),
            detach=st.none() | st.booleans(),
        ),
        max_size=6,
    ),
    st.integers(0, 6),
)
def test_no_chain_of_children_widens_what_a_token_is_good_for(
    wishes: list[WishedPermissions], max_depth: int
) -> None:
    held = agent()
    before = subject_of(held, max_depth=max_depth)
    for depth, wished in enumerate(wishes, start=1):
        held = dataclasses.replace(held, depth=depth, permissions=narrow(held.permissions, wished))
        now = subject_of(held, max_depth=max_depth)
        assert now.permissions.can_spawn <= before.permissions.can_spawn
        assert now.permissions.inherit_github_token <= before.permissions.inherit_github_token
        assert may_spawn(now) <= may_spawn(before)
        assert now.tree_id == before.tree_id
        assert not (may_spawn(now) and depth >= max_depth)
        before = now
