"""The words of `dovecote proposal`. Each command loads what it needs by itself."""

from typing import Annotated

import typer

from orchestrator.cli.options import AsJson, Count, Home

proposal_app = typer.Typer(help="See and answer what agents ask operators to confirm.", no_args_is_help=True)
Number = Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="Its number, as the list shows it.")]


@proposal_app.command("list")
def proposal_list(
    every: Annotated[bool, typer.Option("--all", help="Also those that are decided.")] = False,
    count: Count = 50,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List what waits for an operator, each with all that would be done."""
    from orchestrator.cli.proposals import list_all

    list_all(home, every=every, count=count, as_json=as_json)


@proposal_app.command("confirm")
def proposal_confirm(number: Number, home: Home = None, as_json: AsJson = False) -> None:
    """Have it done, as the agent asked for it."""
    from orchestrator.cli.proposals import decide

    decide(home, number, "confirm", as_json=as_json)


@proposal_app.command("decline")
def proposal_decline(number: Number, home: Home = None, as_json: AsJson = False) -> None:
    """Drop it."""
    from orchestrator.cli.proposals import decide

    decide(home, number, "decline", as_json=as_json)
