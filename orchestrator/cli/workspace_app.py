"""The words of `dovecote workspace`. Each command loads what it needs by itself."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.options import AsJson, Home

workspace_app = typer.Typer(
    help="Say which directories of this machine helpers may work in.", no_args_is_help=True
)
Directory = Annotated[Path, typer.Argument(metavar="PATH", help="The directory; all below it goes with it.")]


@workspace_app.command("list")
def workspace_list(home: Home = None, as_json: AsJson = False) -> None:
    """List the directories that are allowed, and those that programs ask for."""
    from orchestrator.cli.workspaces import list_all

    list_all(home, as_json=as_json)


@workspace_app.command("approve")
def workspace_approve(path: Directory, home: Home = None, as_json: AsJson = False) -> None:
    """Allow a directory, proposed or not."""
    from orchestrator.cli.workspaces import change

    change(home, "approve", path, as_json=as_json)


@workspace_app.command("reject")
def workspace_reject(path: Directory, home: Home = None, as_json: AsJson = False) -> None:
    """Refuse a directory that was proposed or allowed."""
    from orchestrator.cli.workspaces import change

    change(home, "reject", path, as_json=as_json)


@workspace_app.command("remove")
def workspace_remove(path: Directory, home: Home = None, as_json: AsJson = False) -> None:
    """Forget a directory."""
    from orchestrator.cli.workspaces import change

    change(home, "remove", path, as_json=as_json)
