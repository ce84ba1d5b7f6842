"""The commands `backup`, `restore`, `forget` and `service`. Each command loads what it needs by itself."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from orchestrator.cli.options import AsJson, Folder, Home

Archive = Annotated[Path, typer.Argument(metavar="FILE", help="A file that `dovecote backup` wrote.")]
ToHome = Annotated[
    Optional[Path],  # noqa: UP045 — typer reads this at run time
    typer.Option("--to", "--home", help="Where to; else $DOVECOTE_HOME, else the working directory."),
]


forget_app = typer.Typer(help="Remove for good what is kept of somebody.", no_args_is_help=True)
Sure = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@forget_app.command("person")
def forget_person(
    jid: Annotated[str, typer.Argument(metavar="ID", help="Such as 491701234567@s.whatsapp.net.")],
    yes: Sure = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Forget what a person wrote, the answers to it, and the conversations that it was part of."""
    from orchestrator.cli.forgetting import run_forget_person

    raise typer.Exit(run_forget_person(home, jid, is_sure=yes, as_json=as_json))


@forget_app.command("group")
def forget_group(folder: Folder, yes: Sure = False, home: Home = None, as_json: AsJson = False) -> None:
    """Forget a group with its chat, folder, tasks, conversations and all that its agents did."""
    from orchestrator.cli.forgetting import run_forget_group

    raise typer.Exit(run_forget_group(home, folder, is_sure=yes, as_json=as_json))


service_app = typer.Typer(help="Keep Dovecote running, by systemd.", no_args_is_help=True)
OfSystem = Annotated[bool, typer.Option("--system", help="A service of the machine, not of this user.")]


@service_app.command("install")
def service_install(
    of_system: OfSystem = False,
    only_print: Annotated[bool, typer.Option("--print", help="Show the unit and change nothing.")] = False,
    home: Home = None,
) -> None:
    """Start `dovecote serve` now, at each boot, and again when it fails."""
    from orchestrator.cli.service import run_install

    run_install(home, of_system=of_system, only_print=only_print)


@service_app.command("status")
def service_status(of_system: OfSystem = False, as_json: AsJson = False) -> None:
    """Say how the service stands; exit code 1 unless it runs."""
    from orchestrator.cli.service import run_status

    raise typer.Exit(run_status(of_system=of_system, as_json=as_json))


@service_app.command("uninstall")
def service_uninstall(of_system: OfSystem = False, home: Home = None) -> None:
    """Stop the service of a home and remove it; the home stays as it is."""
    from orchestrator.cli.service import run_uninstall

    run_uninstall(home, of_system=of_system)


def backup(
    file: Annotated[
        Optional[Path],  # noqa: UP045 — typer
        typer.Argument(metavar="[FILE]", help="The file to write; else a new one in data/backups."),
    ] = None,
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Also credentials, token keys and the WhatsApp account.")
    ] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Copy the whole home into one file, also while Dovecote runs."""
    from orchestrator.cli.backups import run_backup

    run_backup(home, file, with_secrets=with_secrets, as_json=as_json)


def restore(file: Archive, home: ToHome = None) -> None:
    """Put a backup in the place of a home in which nothing runs; what was there is kept beside it."""
    from orchestrator.cli.backups import run_restore

    run_restore(home, file)


def add_keeping_commands(app: typer.Typer) -> None:
    """Give the command these words."""
    app.command()(backup)
    app.command()(restore)
    app.add_typer(forget_app, name="forget")
    app.add_typer(service_app, name="service")
