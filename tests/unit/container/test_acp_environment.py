"""What a command is given of the environment that an ACP program has us run."""

from container.drivers.acp_program import command_environment

OURS = {
    "PATH": "/usr/bin",
    "ANTHROPIC_API_KEY": "placeholder",
    "PINOCCHIO_API_URL": "http://127.0.0.1:18080",
    "PINOCCHIO_SESSION_TOKEN": "dvt1.x",
    "PINOCCHIO_SESSION_TOKEN_FILE": "/run/dovecote/token/session",
    "GITHUB_TOKEN": "ghp_x",
    "GITHUB_TOKEN_FILE": "/run/dovecote/token/github",
}


def test_a_command_is_told_where_its_tokens_lie_and_given_no_secret() -> None:
    assert command_environment(OURS) == {
        "PATH": "/usr/bin",
        "PINOCCHIO_API_URL": "http://127.0.0.1:18080",
        "PINOCCHIO_SESSION_TOKEN_FILE": "/run/dovecote/token/session",
        "GITHUB_TOKEN_FILE": "/run/dovecote/token/github",
    }
