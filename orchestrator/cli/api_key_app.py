"""The words of `dovecote api-key`. Each command loads what it needs by itself."""

from typing import Annotated, Optional

import typer

from orchestrator.cli.options import AsJson, Home

api_key_app = typer.Typer(help="Let programs of this machine in over HTTP.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="What you call the program, such as editor.")]


@api_key_app.command("add")
def api_key_add(
    name: Name,
    scopes: Annotated[
        Optional[list[str]],  # noqa: UP045 — typer reads this at run time
        typer.Option(
            "--scope", help="What it may: read, spawn, stop, or manage for all that you may; several times."
        ),
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and show it, this once."""
    from orchestrator.cli.api_keys import add

    add(home, name, scopes or (), as_json=as_json)


@api_key_app.command("list")
def api_key_list(home: Home = None, as_json: AsJson = False) -> None:
    """List the keys with what each may; never a key itself."""
    from orchestrator.cli.api_keys import list_all

    list_all(home, as_json=as_json)


@api_key_app.command("remove")
def api_key_remove(name: Name, home: Home = None) -> None:
    """Make a key void at once."""
    from orchestrator.cli.api_keys import remove

    remove(home, name)
