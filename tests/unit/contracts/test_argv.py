"""What a command line needs to be there."""

import pytest

from orchestrator.contracts.wire.argv import script_of


@pytest.mark.parametrize(
    ("command", "script"),
    [
        (("node", "/srv/agent.js"), "/srv/agent.js"),
        (("/usr/bin/python3.11", "-u", "/srv/agent.py", "--acp"), "/srv/agent.py"),
        (("node", "/srv/agent"), None),
        (("python3", "-m", "agent", "/srv/a.txt"), None),
        (("bash", "-c", "/srv/a.sh"), None),
        (("python3", "agent.py"), "agent.py"),
        (("node", "tools/agent.js"), "tools/agent.js"),
        (("node", "tools/agent"), None),
        (("my-agent", "/srv/a.toml"), None),
        (("node",), None),
        ((), None),
    ],
)
def test_only_what_an_interpreter_is_surely_to_run_is_a_script(
    command: tuple[str, ...], script: str | None
) -> None:
    assert script_of(command) == script
