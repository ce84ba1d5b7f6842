"""The words of `dovecote whatsapp`. Each command loads what it needs by itself."""

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

    link(home, phone)


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
    name: Annotated[Optional[str], typer.Argument(help="Only those whose name or id holds this.")] = None,  # noqa: UP045 — typer
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List the groups the account is in, and how each is registered."""
    from orchestrator.cli.whatsapp import groups

    groups(home, name, as_json=as_json)
