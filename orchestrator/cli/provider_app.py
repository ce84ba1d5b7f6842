"""The words of `dovecote provider`. Each command loads what it needs by itself."""

from typing import Annotated

import typer

from orchestrator.cli.options import AsJson, Home

provider_app = typer.Typer(help="Who supplies models and agent programs.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Its name, as the list shows it.")]


@provider_app.command("list")
def provider_list(home: Home = None, as_json: AsJson = False) -> None:
    """List the providers, each with its model, its upstream, and whether its credential is set."""
    from orchestrator.cli.definition_lists import list_all

    list_all(home, as_json=as_json)


@provider_app.command("check")
def provider_check(name: Name, home: Home = None, as_json: AsJson = False) -> None:
    """Look whether its credential is set and its upstream takes it; exit code 1 if not."""
    from orchestrator.cli.provider_trial import check

    raise typer.Exit(check(home, name, as_json=as_json))


@provider_app.command("login")
def provider_login(
    name: Name,
    group: Annotated[str, typer.Option("--group", help="The group whose agents log in so.")] = "main",
    home: Home = None,
) -> None:
    """Run the login of a provider's own program, where auth_mode is native_cli; a container can see it."""
    from orchestrator.cli.provider_login import login

    raise typer.Exit(login(home, name, group))
