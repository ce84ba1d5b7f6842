"""An orchestrator that will be killed: starts one agent, says what it knows of it, and waits.

Run as `python -m tests.agreement.runners.leaver RUNNER PROGRAMS STAGE INSTANCE`.
"""

import asyncio
import json
import sys
from pathlib import Path

from tests.agreement.runners.stage import Stage, open_runner, read_line

# Reads its input to the end, as an agent does, then lives on, whatever happens to its parent.
AGENT = """
import sys, time
sys.stdin.read()
print('reading is done', flush=True)
time.sleep(600)
"""


async def leave(kind: str, programs: Path, root: Path, instance_id: str) -> None:
    """Start the agent and never stop it."""
    runner = open_runner(kind, programs)
    plan = Stage(root, instance_id=instance_id).plan(AGENT)
    handle = await runner.start(plan)
    await handle.write_input(b"{}\n")
    await read_line(handle.output())
    sys.stdout.write(json.dumps({"agent_id": plan.agent_id, "ref": handle.process_ref}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    name, programs_directory, stage_root, instance = sys.argv[1:]
    asyncio.run(leave(name, Path(programs_directory), Path(stage_root), instance))
