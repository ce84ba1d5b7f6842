"""The words of `dovecote image`. Each command loads what it needs by itself."""

from typing import Annotated, Optional

import typer

from orchestrator.cli.build_for import BuildFor
from orchestrator.cli.options import AsJson, Home

image_app = typer.Typer(help="What agents run in, and their programs.", no_args_is_help=True)


@image_app.command("build")
def image_build(
    base: Annotated[Optional[str], typer.Option(help="The image to build on.")] = None,  # noqa: UP045 — typer
    with_: Annotated[
        str, typer.Option("--with", metavar="NAMES", help="Agent programs to put in: claude,codex,… or all.")
    ] = "",
    without: Annotated[
        str, typer.Option("--without", metavar="NAMES", help="Agent programs to leave out from now on.")
    ] = "",
    build_for: Annotated[
        Optional[BuildFor],  # noqa: UP045 — typer
        typer.Option("--for", help="Else for each of the two that works on this machine."),
    ] = None,
    home: Home = None,
) -> None:
    """Build the agent image and install agent programs, for Docker and for bubblewrap."""
    from orchestrator.cli.image import build

    build(home, base=base, with_=with_, without=without, build_for=build_for)


@image_app.command("check")
def image_check(home: Home = None, as_json: AsJson = False) -> None:
    """Show what agents run in and which programs they have; exit code 1 if it has to be built again."""
    from orchestrator.cli.image_check import check

    raise typer.Exit(check(home, as_json=as_json))


@image_app.command("prune")
def image_prune(home: Home = None) -> None:
    """Remove agent images of earlier versions and of other checkouts, which can build theirs again."""
    from orchestrator.cli.image_prune import prune

    prune(home)
