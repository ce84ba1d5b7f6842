"""`dovecote whatsapp link` and `unlink`: a child of their own, while no orchestrator uses the account."""

import asyncio
import fcntl
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.app.parts import SystemClock
from orchestrator.channels.whatsapp.channel import ChildOptions, child_command
from orchestrator.channels.whatsapp.lines import (
    VERSION,
    ChildLine,
    Hello,
    LineError,
    LinkState,
    PairingCode,
    PairPhone,
    QrCode,
    StateIs,
    Unlink,
    Unlinked,
    child_line,
)
from orchestrator.channels.whatsapp.linked_since import forget_linked, linked_since, note_linked
from orchestrator.channels.whatsapp.process import ChildCommand, ChildProcess
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.cli.home import make_home, open_home
from orchestrator.cli.whatsapp_numbers import account_number, number_of
from orchestrator.cli.whatsapp_settling import Ask, settle, switch_off
from orchestrator.contracts.errors import Conflict, ErrorCode, NotFound, Unavailable
from orchestrator.paths import Paths

_SCAN_WITHIN_S: Final = 180.0
_STOP_WITHIN_S: Final = 1.0
_SESSION_PARTS: Final = ("", "-wal", "-shm", "-journal")
_INSTALL: Final = " Install it: "
_TRY_AGAIN: Final = "Is this machine on the Internet? Then try again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """How the network is reached. command: makes the child's. answer_within_s: for its first answer."""

    command: Callable[[ChildOptions], ChildCommand] = child_command
    answer_within_s: float = 8.0


_DIAL: Final = Dial()


def link(home_option: Path | None, phone: str | None, *, ask: Ask | None, dial: Dial = _DIAL) -> None:
    """Link an account, and agree on what follows; said on standard output.

    ask: None where nobody can be asked. Raises Conflict, InvalidRequest or Unavailable.
    """
    number = None if phone is None else number_of(phone)
    home = open_home(home_option)
    if (account := linked_account(home.paths.whatsapp_session)) is not None:
        raise Conflict(
            f"The account {_shown(account)} is linked already.",
            suggestion="To link another one: dovecote whatsapp unlink",
        )
    make_home(home)
    asyncio.run(_link(home.paths, number, dial))
    account = linked_account(home.paths.whatsapp_session) or ""
    print(f"Linked: {_shown(account)}.")
    settle(home, account, ask=ask)


def unlink(home_option: Path | None, *, dial: Dial = _DIAL) -> None:
    """Log out at WhatsApp and forget the session. Raises NotFound, Conflict or Unavailable."""
    home = open_home(home_option)
    if linked_account(home.paths.whatsapp_session) is None:
        raise NotFound("No WhatsApp account is linked.", suggestion="To link one: dovecote whatsapp link")
    _refuse_in_use(home.paths)
    make_home(home)
    asyncio.run(_unlink(home.paths, dial))
    print("Unlinked.")
    switch_off(home)


def forget_session(home_option: Path | None) -> None:
    """Remove the session from this machine; the phone still lists the device. Raises NotFound or Conflict."""
    home = open_home(home_option)
    session = home.paths.whatsapp_session
    if not session.exists() and linked_since(session) is None:
        raise NotFound("There is no session to remove.", suggestion="To link one: dovecote whatsapp link")
    _refuse_in_use(home.paths)
    _remove_session(session)
    print("The session is removed. Remove the device on the phone too: WhatsApp, linked devices.")
    switch_off(home)


def _refuse_in_use(paths: Paths) -> None:
    """A child of a running orchestrator holds the lock for its life."""
    try:
        held = os.open(paths.whatsapp_spool, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Conflict("The account is in use.", suggestion="Stop the orchestrator first.") from None
    finally:
        os.close(held)


def _shown(account: str) -> str:
    """`+491701234567` of an account and its device."""
    return f"+{account_number(account)}"


async def _link(paths: Paths, number: str | None, dial: Dial) -> None:
    async def wish(child: ChildProcess) -> None:
        await _until_open(child, number, dial)
        note_linked(paths.whatsapp_session, SystemClock().now())

    try:
        await _with_child(paths, dial, wish)
    finally:
        if linked_account(paths.whatsapp_session) is None:
            _remove_session(paths.whatsapp_session)


async def _unlink(paths: Paths, dial: Dial) -> None:
    async def wish(child: ChildProcess) -> None:
        await _until_open(child, None, dial)
        child.port.put(Unlink())
        async with asyncio.timeout(dial.answer_within_s):
            while not isinstance(line := await _next(child), Unlinked):
                continue
        if line.why is not None:
            raise _no_link(line.why)

    try:
        await _with_child(paths, dial, wish)
    except Unavailable as error:
        error.suggestion = "dovecote whatsapp unlink --forget removes the session here all the same."
        raise
    _remove_session(paths.whatsapp_session)


async def _with_child(paths: Paths, dial: Dial, wish: Callable[[ChildProcess], Awaitable[None]]) -> None:
    """Do it with a child that is gone when this returns. Raises Unavailable."""
    options = ChildOptions(session=paths.whatsapp_session, spool=paths.whatsapp_spool, purpose="link")
    child = await ChildProcess.start(dial.command(options), 1)
    how = ""
    try:
        await wish(child)
    except TimeoutError:
        raise _no_link("no answer in time") from None
    except EOFError:
        how = await child.end(within_s=_STOP_WITHIN_S)
        raise _no_link(f"the WhatsApp process ended: {how}") from None
    finally:
        if not how:
            await child.end(within_s=_STOP_WITHIN_S)


async def _until_open(child: ChildProcess, number: str | None, dial: Dial) -> None:
    """Show what the phone needs until the link is open. Raises Unavailable, TimeoutError or EOFError."""
    is_asked = False
    async with asyncio.timeout(dial.answer_within_s) as limit:
        while True:
            match await _next(child):
                case StateIs() as line if line.state is LinkState.OPEN:
                    return
                case StateIs() as line if line.state is not LinkState.CONNECTING:
                    raise _no_link(line.why)
                case QrCode() as line:
                    limit.reschedule(asyncio.get_running_loop().time() + _SCAN_WITHIN_S)
                    if number is None:
                        _print_qr(line.code)
                    elif not is_asked:
                        is_asked = True
                        child.port.put(PairPhone(phone=number))
                case PairingCode() as line:
                    print(
                        f"On the phone: WhatsApp, linked devices, link with phone number. Code: {line.code}"
                    )
                case _:
                    continue


async def _next(child: ChildProcess) -> ChildLine:
    try:
        raw = await child.port.read()
        if raw is None:
            raise EOFError
        line = child_line(raw)
    except LineError as error:
        raise _no_link(f"the WhatsApp process said what is no line: {error}") from None
    if isinstance(line, Hello) and line.version != VERSION:
        raise _no_link(f"the WhatsApp process speaks version {line.version}")
    return line


def _print_qr(code: str) -> None:
    import segno

    print("On the phone: WhatsApp, linked devices, link a device. Scan this; a new one follows every 20 s.")
    segno.make_qr(code).terminal(compact=True)


def _no_link(why: str) -> Unavailable:
    what, _, command = why.partition(_INSTALL)
    suggestion = _TRY_AGAIN
    if command:
        suggestion = f"{_INSTALL.strip()} {command}"
    elif "another process" in why:
        suggestion = "Stop the orchestrator first: it uses the account."
    return Unavailable(
        f"WhatsApp: {what.rstrip('.')}.", code=ErrorCode.CHANNEL_UNAVAILABLE, suggestion=suggestion
    )


def _remove_session(session: Path) -> None:
    for part in _SESSION_PARTS:
        Path(f"{os.fspath(session)}{part}").unlink(missing_ok=True)
    forget_linked(session)
