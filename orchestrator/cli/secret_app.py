"""The words of `dovecote secret`. Each command loads what it needs by itself."""

from typing import Annotated

import typer

from orchestrator.cli.options import AsJson, Home

secret_app = typer.Typer(help="Keep the credentials of providers.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Such as providers/claude/api_key.")]


@secret_app.command("set")
def secret_set(
    name: Name,
    in_file: Annotated[
        bool, typer.Option("--in-file", help="Not in the system's keyring, also where there is one.")
    ] = False,
    home: Home = None,
) -> None:
    """Keep a credential: typed unseen, or piped to standard input; never an argument."""
    from orchestrator.cli.secrets import set_one

    set_one(home, name, in_file=in_file)


@secret_app.command("list")
def secret_list(home: Home = None, as_json: AsJson = False) -> None:
    """List the names of what is kept, and when it was set; never a value."""
    from orchestrator.cli.secrets import list_all

    list_all(home, as_json=as_json)


@secret_app.command("remove")
def secret_remove(name: Name, home: Home = None) -> None:
    """Forget a credential."""
    from orchestrator.cli.secrets import remove_one

    remove_one(home, name)
