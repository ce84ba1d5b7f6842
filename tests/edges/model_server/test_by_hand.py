"""`python -m tests.support.model_server`: as a human starts it."""

import asyncio
import contextlib
import json
import signal
import ssl
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from tests.support.model_calls import MESSAGES


@contextlib.asynccontextmanager
async def started(*arguments: str) -> AsyncIterator[Process]:
    """The program; it is gone at the end of the block."""
    command = (sys.executable, "-m", "tests.support.model_server", *arguments)
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def line_of(process: Process) -> str:
    """The next line that it says."""
    assert process.stdout is not None
    async with asyncio.timeout(40):
        return (await process.stdout.readline()).decode().rstrip()


async def test_it_says_where_it_is_and_what_it_was_asked_and_ends_in_order(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "tea", "steps": [{"step": "say", "text": "Earl Grey"}]}]))
    async with started("--script", str(script), "--key", "sk-real", "--prefix", "/api") as process:
        url = await line_of(process)
        async with httpx.AsyncClient(trust_env=False, headers={"x-api-key": "sk-real"}) as client:
            body = MESSAGES.ask("some tea", (), False)
            answer = await client.post(f"{url}{MESSAGES.path}", json=body)
        said = await line_of(process)

        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(40):
            ended = await process.wait()

    assert MESSAGES.whole(answer.json()).text == "Earl Grey"
    assert said.startswith("200 POST /api/v1/messages m-1 ")
    assert "sk-real" not in said
    assert ended == 0


async def test_with_tls_it_says_whom_to_trust() -> None:
    async with started("--tls") as process:
        url = await line_of(process)
        word, _, authority = (await line_of(process)).partition(" ")
        trusting = ssl.create_default_context(cafile=authority)
        async with httpx.AsyncClient(trust_env=False, verify=trusting) as client:
            answer = await client.get(f"{url}/v1/models")

    assert (word, answer.status_code) == ("trust", 200)


async def test_a_script_that_is_wrong_is_said_before_anything_starts(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"steps": [{"step": "shout"}]}]')
    async with started("--script", str(script)) as process:
        async with asyncio.timeout(40):
            said, error = await process.communicate()

    assert (process.returncode, said) == (2, b"")
    assert str(script).encode() in error
    assert b"shout" in error
