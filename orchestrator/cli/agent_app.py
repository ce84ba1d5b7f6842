"""The words of `dovecote agent`. Each command loads what it needs by itself."""

from typing import Annotated, Optional

import typer

from orchestrator.cli.options import AsJson, Home

agent_app = typer.Typer(help="How the groups' agents are defined.", no_args_is_help=True)


@agent_app.command("check")
def agent_check(
    group: Annotated[Optional[str], typer.Argument(help="Its folder below groups/; all without it.")] = None,  # noqa: UP045 — typer
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show what an agent would be at its next start; exit code 1 if none could be started."""
    from orchestrator.cli.agents import check

    raise typer.Exit(check(home, group, as_json=as_json))
