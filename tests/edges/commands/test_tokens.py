"""Session tokens in the life of agents: given, checked, renewed, taken back. Source: agents.md section 2."""

import json
import os
import stat
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.commands.agents.tokens import (
    TokenRefused,
    caller_of_token,
    prepare_token_dir,
    remove_token_dir,
    renew_tokens,
    revoke_tokens,
    rotate_keys,
    sweep_token_dirs,
)
from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentStatus, SpawnPermissions
from orchestrator.contracts.records.tokens import TokenFault
from orchestrator.settings.spawn import SpawnSettings
from orchestrator.settings.tree import Settings
from orchestrator.store import agents, trees
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import agent

HOUR_S = 3600
TREE = TreeId("tree-1")


async def running_agent(desk: Desk, name: str = "agent-1", **fields: Any) -> Agent:
    """An agent that has its input, in a tree of its own unless `fields` name one."""
    held = agent(name, started_at=desk.now, **fields)

    def body(tx: Transaction) -> Agent:
        trees.add(tx, held.tree_id, held.agent_id, at=desk.now)
        agents.add(tx, held)
        agents.move(tx, held.agent_id, was=AgentStatus.STARTING, now=AgentStatus.RUNNING)
        return replace(held, status=AgentStatus.RUNNING)

    return await desk.run(body)


async def token_of(desk: Desk, agent_id: AgentId) -> str:
    """What stands in the agent's file, after it was given one."""
    directory = await prepare_token_dir(desk.services, agent_id, None)
    assert directory is not None
    return read(directory)


def read(directory: Path) -> str:
    """The token that the agent finds there."""
    return (directory / "session").read_text("ascii")


async def events(desk: Desk) -> list[tuple[str, dict[str, Any]]]:
    """The types and bodies of all events."""
    rows = await desk.run(lambda tx: tx.all("SELECT type, body FROM event_log ORDER BY position"))
    return [(row["type"], json.loads(row["body"])) for row in rows]


async def refusal(desk: Desk, text: str, through: str = "agent-1") -> TokenRefused:
    """Why this token is not taken."""
    with pytest.raises(TokenRefused) as refused:
        await caller_of_token(desk.services, text, through=AgentId(through))
    return refused.value


async def test_an_agents_token_makes_it_known_by_its_own_socket_and_by_no_other(desk: Desk) -> None:
    held = await running_agent(desk)
    text = await token_of(desk, held.agent_id)

    caller = await caller_of_token(desk.services, text, through=held.agent_id)
    foreign = await refusal(desk, text, through="agent-2")

    assert (caller.agent_id, caller.box, caller.chat_jid) == (held.agent_id, held.box, held.chat_jid)
    assert (foreign.code, foreign.fault) == (ErrorCode.TOKEN_INVALID, TokenFault.FOREIGN_SOCKET)


async def test_fp12_the_token_is_a_file_that_only_its_agent_reads(desk: Desk) -> None:
    held = await running_agent(desk)

    directory = await prepare_token_dir(desk.services, held.agent_id, None)

    assert directory is not None
    assert stat.S_IMODE((directory / "session").stat().st_mode) == 0o400
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(desk.services.paths.keys.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
async def test_where_each_group_has_a_user_of_its_own_the_file_is_that_users(desk: Desk) -> None:
    held = await running_agent(desk)

    directory = await prepare_token_dir(desk.services, held.agent_id, 64_123)

    assert directory is not None
    found = (directory / "session").stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (64_123, 0o400)
    assert (directory.stat().st_uid, stat.S_IMODE(directory.stat().st_mode)) == (0, 0o711)


@pytest.mark.parametrize(
    ("fields", "settings"),
    [
        ({"permissions": SpawnPermissions(can_spawn=False)}, SpawnSettings()),
        ({"depth": 2}, SpawnSettings()),
        ({}, SpawnSettings(max_depth=0)),
        ({}, SpawnSettings(enabled=False)),
    ],
)
async def test_an_agent_that_may_start_no_others_is_given_no_token(
    desk: Desk, fields: dict[str, Any], settings: SpawnSettings
) -> None:
    desk.set_settings(Settings(spawn=settings))
    held = await running_agent(desk, **fields)

    assert await prepare_token_dir(desk.services, held.agent_id, None) is None
    assert not desk.services.paths.tokens.exists()


async def test_a_token_is_dead_the_moment_its_agent_is_stopped_or_its_tree_is_over(desk: Desk) -> None:
    one = await running_agent(desk)
    other = await running_agent(desk, "agent-2", tree_id=TreeId("tree-2"))
    texts = [await token_of(desk, each.agent_id) for each in (one, other)]
    await desk.run(
        lambda tx: agents.move(tx, one.agent_id, was=AgentStatus.RUNNING, now=AgentStatus.STOPPING)
    )
    await desk.run(lambda tx: trees.end(tx, other.tree_id, at=desk.now))

    stopped, over = await refusal(desk, texts[0]), await refusal(desk, texts[1], through="agent-2")

    assert (stopped.code, over.code) == (ErrorCode.TOKEN_PARENT_INVALID, ErrorCode.TOKEN_TREE_INVALID)


async def test_a_revoked_token_is_good_for_nothing_though_its_agent_lives(desk: Desk) -> None:
    held = await running_agent(desk)
    text = await token_of(desk, held.agent_id)

    await desk.run(lambda tx: revoke_tokens(tx, [held.agent_id], at=desk.now))

    assert (await refusal(desk, text)).fault is TokenFault.REVOKED


async def test_a_dead_agent_leaves_no_good_token(desk: Desk) -> None:
    held = await running_agent(desk)
    text = await token_of(desk, held.agent_id)

    await desk.die(held)

    assert (await refusal(desk, text)).code in {
        ErrorCode.TOKEN_PARENT_INVALID,
        ErrorCode.TOKEN_TREE_INVALID,
    }
    revoked = await desk.run(lambda tx: tx.all("SELECT 1 FROM tokens WHERE revoked_ms IS NULL"))
    assert revoked == []


async def test_a_token_that_the_store_never_gave_out_is_refused_though_our_key_signed_it(desk: Desk) -> None:
    held = await running_agent(desk)
    text = await token_of(desk, held.agent_id)

    await desk.run(lambda tx: tx.execute("DELETE FROM tokens"))

    assert (await refusal(desk, text)).fault is TokenFault.NOT_ISSUED


async def test_fp13_tokens_hold_over_a_restart_and_a_ring_that_is_replaced_voids_them(desk: Desk) -> None:
    held = await running_agent(desk)
    text = await token_of(desk, held.agent_id)
    ring = desk.services.paths.keys.read_bytes()

    # Nothing is kept in memory: whoever asks reads ring and store, as a new process would.
    assert (await caller_of_token(desk.services, text, through=held.agent_id)).agent_id == held.agent_id
    desk.services.paths.keys.unlink()
    assert (await refusal(desk, text)).fault is TokenFault.KEY_UNKNOWN
    desk.services.paths.keys.write_bytes(ring)
    assert (await caller_of_token(desk.services, text, through=held.agent_id)).agent_id == held.agent_id


async def test_fp13_an_edited_token_file_is_rejected_and_the_audit_has_it(desk: Desk) -> None:
    held = await running_agent(desk)
    text = await token_of(desk, held.agent_id)

    refused = await refusal(desk, text[:-1] + ("0" if text[-1] != "0" else "1"))

    assert (refused.code, refused.fault) == (ErrorCode.TOKEN_INVALID, TokenFault.SIGNATURE)
    assert (await events(desk))[-1] == (
        "token.signature_invalid",
        {"agentId": "agent-1", "type": "token.signature_invalid"},
    )


async def test_the_audit_has_each_token_that_is_given_expires_or_is_refused(desk: Desk) -> None:
    held = await running_agent(desk)
    text = await token_of(desk, held.agent_id)
    expires_ms = round(desk.later(HOUR_S).timestamp() * 1000)
    await refusal(desk, "nonsense")
    desk.clock.advance(HOUR_S)
    expired = await refusal(desk, text)

    assert expired.code is ErrorCode.TOKEN_EXPIRED
    assert [body | {"type": kind} for kind, body in await events(desk)] == [
        {
            "type": "token.generated",
            "agentId": "agent-1",
            "treeId": "tree-1",
            "depth": 0,
            "expiresAt": expires_ms,
        },
        {"type": "token.validation_failed", "reason": "malformed"},
        {"type": "token.expired", "agentId": "agent-1", "expiredAt": expires_ms},
    ]


async def test_fp15_a_long_agent_keeps_a_good_token_to_the_end_of_its_run_and_no_longer(desk: Desk) -> None:
    deadline = desk.now + timedelta(hours=5)
    held = await running_agent(desk, deadline_at=deadline)
    directory = await prepare_token_dir(desk.services, held.agent_id, None)
    assert directory is not None
    while desk.now + timedelta(minutes=10) < deadline:
        desk.clock.advance(10 * 60)
        await renew_tokens(desk.services)
        assert await caller_of_token(desk.services, read(directory), through=held.agent_id)

    desk.clock.advance(10 * 60)
    await renew_tokens(desk.services)

    assert (await refusal(desk, read(directory))).code is ErrorCode.TOKEN_EXPIRED


async def test_the_token_before_stays_good_while_its_agent_still_reads_the_next(desk: Desk) -> None:
    held = await running_agent(desk)
    directory = await prepare_token_dir(desk.services, held.agent_id, None)
    assert directory is not None
    before = read(directory)
    desk.clock.advance(31 * 60)

    await renew_tokens(desk.services)

    after = read(directory)
    assert before != after
    for text in (before, after):
        assert await caller_of_token(desk.services, text, through=held.agent_id)
    desk.clock.advance(30 * 60)
    assert (await refusal(desk, before)).code is ErrorCode.TOKEN_EXPIRED
    assert await caller_of_token(desk.services, after, through=held.agent_id)


async def test_an_agent_that_is_being_stopped_is_given_no_further_token(desk: Desk) -> None:
    held = await running_agent(desk)
    directory = await prepare_token_dir(desk.services, held.agent_id, None)
    assert directory is not None
    before = read(directory)
    await desk.run(
        lambda tx: agents.move(tx, held.agent_id, was=AgentStatus.RUNNING, now=AgentStatus.STOPPING)
    )
    desk.clock.advance(40 * 60)

    await renew_tokens(desk.services)

    assert read(directory) == before


async def test_a_new_key_signs_after_a_month_and_the_one_before_is_known_for_another_day(desk: Desk) -> None:
    held = await running_agent(desk)
    directory = await prepare_token_dir(desk.services, held.agent_id, None)
    assert directory is not None
    old = read(directory)
    desk.clock.advance(30 * 24 * HOUR_S)
    await rotate_keys(desk.services)
    await renew_tokens(desk.services)
    new = read(directory)

    assert old.split(".")[1] != new.split(".")[1]
    assert await caller_of_token(desk.services, new, through=held.agent_id)
    assert (await refusal(desk, old)).code is ErrorCode.TOKEN_EXPIRED
    desk.clock.advance(24 * HOUR_S)
    await rotate_keys(desk.services)
    assert (await refusal(desk, old)).fault is TokenFault.KEY_UNKNOWN
    assert len(desk.services.paths.keys.read_text().split('"id"')) == 2


async def test_the_files_of_the_dead_go_and_those_of_the_living_stay(desk: Desk) -> None:
    living = await running_agent(desk)
    dead = await running_agent(desk, "agent-2", tree_id=TreeId("tree-2"))
    left = await running_agent(desk, "agent-3", tree_id=TreeId("tree-3"))
    for each in (living, dead, left):
        await token_of(desk, each.agent_id)
    await remove_token_dir(desk.services, dead.agent_id)
    await remove_token_dir(desk.services, dead.agent_id)
    await desk.die(left)

    await sweep_token_dirs(desk.services)

    assert [each.name for each in desk.services.paths.tokens.iterdir()] == ["agent-1"]
