"""Programs that try one thing after another inside the walls, and what each came to."""

import json
from typing import Any, Final

from orchestrator.contracts.records.launch import ResourceLimits
from orchestrator.runners.catalog import DescribedRunner
from tests.agreement.runners.stage import Stage, run

TRY: Final = """
import ctypes, errno, json, os, signal, socket, stat, sys
found = {}
def attempt(name, action):
    try:
        found[name] = ['done', repr(action())[:200]]
    except OSError as error:
        found[name] = ['refused', errno.errorcode.get(error.errno, '?')]
    except Exception as error:
        found[name] = ['refused', repr(error)[:200]]
"""


async def tried(
    runner: DescribedRunner, stage: Stage, code: str, *, limits: ResourceLimits | None = None
) -> dict[str, list[str]]:
    """What each attempt of the program came to."""
    plan = stage.plan(f"{TRY}\n{code}\nprint(json.dumps(found))", limits=limits)
    found: Any = json.loads((await run(runner, plan)).output)
    return dict(found)


def got_through(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """The attempts that were not refused."""
    return {name: result for name, result in found.items() if result[0] != "refused"}
