"""The words of `dovecote whatsapp`. Each command loads what it needs by itself."""

import sys
from typing import Annotated, Optional

import typer

from orchestrator.cli.options import AsJson, Home

whatsapp_app = typer.Typer(help="Link a WhatsApp account, and see how it stands.", no_args_is_help=True)


@whatsapp_app.command("link")
def whatsapp_link(
    phone: Annotated[
        Optional[str],  # noqa: UP045 — typer
        typer.Option("--phone", help="Its number, such as +491701234567, for a code instead of a QR code."),
    ] = None,
    home: Home = None,
) -> None:
    """Link an account as one of its devices: scan the QR code, or type the code on the phone."""
    from orchestrator.cli.whatsapp_link import link
    from orchestrator.cli.whatsapp_settling import ask_at_terminal

    link(home, phone, ask=ask_at_terminal if sys.stdin.isatty() else None)


@whatsapp_app.command("main")
def whatsapp_main(
    phone: Annotated[
        Optional[str],  # noqa: UP045 — typer
        typer.Argument(help="A number, such as +491701234567; without it the account's chat with itself."),
    ] = None,
    home: Home = None,
) -> None:
    """Have operators asked in a direct chat of WhatsApp: it becomes the main one."""
    from orchestrator.cli.whatsapp_settling import choose_main

    choose_main(home, phone)


@whatsapp_app.command("status")
def whatsapp_status(home: Home = None, as_json: AsJson = False) -> None:
    """Show which account is linked and how its link stands."""
    from orchestrator.cli.whatsapp import status

    status(home, as_json=as_json)


@whatsapp_app.command("unlink")
def whatsapp_unlink(
    forget: Annotated[
        bool, typer.Option("--forget", help="Without asking WhatsApp; then remove the device on the phone.")
    ] = False,
    home: Home = None,
) -> None:
    """Log this device out of the account and remove its session."""
    from orchestrator.cli.whatsapp_link import forget_session, unlink

    if forget:
        forget_session(home)
    else:
        unlink(home)


@whatsapp_app.command("groups")
def whatsapp_groups(
    which: Annotated[
        Optional[str],  # noqa: UP045 — typer
        typer.Argument(help="A number of the list, or a part of a name or an id."),
    ] = None,
    register: Annotated[
        Optional[str],  # noqa: UP045 — typer
        typer.Option("--register", help="Register the one that is meant, with this folder below groups/."),
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List the groups the account is in and how each is registered, or register one of them."""
    from orchestrator.cli.whatsapp import groups

    groups(home, which, register, as_json=as_json)
