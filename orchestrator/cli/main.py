"""The command `dovecote`. Only typer is imported here: each command loads what it needs by itself."""

import gc
import sys
from pathlib import Path
from typing import Annotated, Final, Literal, Optional

import typer

from orchestrator.cli.agent_app import agent_app
from orchestrator.cli.api_key_app import api_key_app
from orchestrator.cli.image_app import image_app
from orchestrator.cli.keeping_app import add_keeping_commands
from orchestrator.cli.options import AsJson, Count, Folder, Home, Since, Tree
from orchestrator.cli.output import READER_GONE, ReaderGone, allow_any_text, say_error, unwritable
from orchestrator.cli.proposal_app import proposal_app
from orchestrator.cli.provider_app import provider_app
from orchestrator.cli.secret_app import secret_app
from orchestrator.cli.task_app import task_app
from orchestrator.cli.whatsapp_app import whatsapp_app
from orchestrator.cli.workspace_app import workspace_app
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.version import VERSION

app = typer.Typer(
    name="dovecote",
    help="A chat orchestrator: a message in a group, an agent in its own container, an answer in the group.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
)
group_app = typer.Typer(help="Register chats and change how they behave.", no_args_is_help=True)
app.add_typer(group_app, name="group")
app.add_typer(task_app, name="task")
app.add_typer(proposal_app, name="proposal")
app.add_typer(image_app, name="image")
app.add_typer(secret_app, name="secret")
app.add_typer(agent_app, name="agent")
app.add_typer(api_key_app, name="api-key")
app.add_typer(workspace_app, name="workspace")
app.add_typer(provider_app, name="provider")
app.add_typer(whatsapp_app, name="whatsapp")

_NEW_OBJECTS: Final = 100_000
"""So many are made before garbage is looked for: what a command loads stays, and looking costs it a tenth."""


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(VERSION)
        raise typer.Exit


@app.callback()
def dovecote(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """What stands before any command."""


@app.command()
def serve(home: Home = None) -> None:
    """Run the orchestrator until it is told to stop."""
    from orchestrator.cli.serve import run_serve

    raise typer.Exit(run_serve(home))


@app.command()
def chat(
    home: Home = None,
    with_chat: Annotated[str, typer.Option("--chat", help="Which console chat.")] = "console:main",
) -> None:
    """Chat in this terminal; with input that is no terminal, answer each of its lines."""
    from orchestrator.cli.chat import run_chat

    raise typer.Exit(run_chat(home, chat=with_chat))


@app.command()
def config(home: Home = None, as_json: AsJson = False) -> None:
    """Print the effective settings and where each came from."""
    from orchestrator.cli.config import print_settings

    raise typer.Exit(print_settings(home, as_json=as_json))


@app.command()
def doctor(home: Home = None, as_json: AsJson = False) -> None:
    """Check this installation; each finding says what mends it."""
    from orchestrator.cli.doctor import run_doctor

    raise typer.Exit(run_doctor(home, as_json=as_json))


@app.command()
def status(home: Home = None, as_json: AsJson = False) -> None:
    """Show how all stands: channels, groups, queue, agents, tasks, outbox, errors, use."""
    from orchestrator.cli.status import show_status

    show_status(home, as_json=as_json)


@app.command()
def messages(
    chat: Annotated[Optional[str], typer.Option("--chat", help="Only those of this chat.")] = None,  # noqa: UP045 — typer
    count: Count = 50,
    sent: Annotated[bool, typer.Option("--sent", help="What was sent to chats instead.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest messages and what became of them."""
    from orchestrator.cli.seen import show_messages, show_sent

    (show_sent if sent else show_messages)(home, chat=chat, count=count, as_json=as_json)


@app.command()
def usage(
    group: Annotated[Optional[str], typer.Option("--group", help="Only that of this group's folder.")] = None,  # noqa: UP045 — typer
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="So many, today included.")] = 7,
    turns: Annotated[bool, typer.Option("--turns", help="One line a turn, the newest first.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show what agents used of their providers, and what it cost where prices are known."""
    from orchestrator.cli.usage import show_usage

    show_usage(home, group=group, days=days, by_turn=turns, as_json=as_json)


@app.command()
def errors(
    box: Annotated[Optional[str], typer.Option("--box", help="Only those of this box.")] = None,  # noqa: UP045 — typer
    count: Count = 50,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest requests of agents that were refused, and why."""
    from orchestrator.cli.seen import show_errors

    show_errors(home, box=box, count=count, as_json=as_json)


@app.command()
def top(
    every_s: Annotated[
        float, typer.Option("--every", min=0.2, max=60, help="Seconds between two looks.")
    ] = 1,
    ended_s: Annotated[
        float, typer.Option("--ended", min=0, max=86_400, help="Trees stay so long after their end.")
    ] = 300,
    home: Home = None,
) -> None:
    """Show all trees of agents live: who does what, since when, for how much."""
    from orchestrator.cli.top import run_top

    run_top(home, every_s=every_s, ended_within_s=ended_s)


@app.command()
def events(
    tree: Tree = None,
    since: Since = None,
    audit: Annotated[bool, typer.Option("--audit", help="Only those that are kept for the audit.")] = False,
    all_types: Annotated[
        bool, typer.Option("--all", help="Also how far agents are, and their tokens.")
    ] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what happens.")] = False,
    count: Count = 50,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened to agents, the newest last."""
    from orchestrator.cli.events import Wanted, show_events

    wanted = Wanted(tree=tree, since=since, count=count, only_audit=audit, all_types=all_types)
    show_events(home, wanted, follow=follow, as_json=as_json)


@app.command()
def reference(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail if the tables are old.")
    ] = False,
    readme: Annotated[Path, typer.Option(help="The file that holds the tables.")] = Path("README.md"),
) -> None:
    """Write the tables and diagrams that come from the code into the README."""
    from orchestrator.cli.reference import run_reference

    raise typer.Exit(run_reference(app, readme, is_check=check))


@app.command()
def mcp(
    toolset: Annotated[Literal["spawn"], typer.Option(help="Which tools.")] = "spawn",
    home: Home = None,
) -> None:
    """Offer tools on standard input and output, for clients that speak MCP but no HTTP."""
    from orchestrator.cli.mcp_bridge import run_mcp

    run_mcp(home, toolset)


@app.command()
def version() -> None:
    """Print the version."""
    print(VERSION)


@group_app.command("add")
def group_add(
    folder: Folder,
    jid: Annotated[str, typer.Option(help="The chat, such as console:garden or 1203…@g.us.")],
    name: Annotated[Optional[str], typer.Option(help="What people call it.")] = None,  # noqa: UP045 — typer
    trigger: Annotated[Optional[str], typer.Option(help="A word such as @Andy, or a regex.")] = None,  # noqa: UP045 — typer
    every_message: Annotated[bool, typer.Option(help="Answer every message, trigger or not.")] = False,
    main: Annotated[bool, typer.Option("--main", help="Make it the operator's own group.")] = False,
    adopt: Annotated[bool, typer.Option("--adopt", help="Use a folder that exists already.")] = False,
    home: Home = None,
) -> None:
    """Register a chat and make its folder."""
    from orchestrator.cli.groups import add
    from orchestrator.commands.groups.groups import NewGroup
    from orchestrator.contracts.ids import Jid

    new = NewGroup(
        folder=folder,
        jid=Jid(jid),
        name=name,
        trigger=trigger,
        requires_trigger=not every_message,
        is_main=main,
        adopt=adopt,
    )
    add(home, new)


@group_app.command("list")
def group_list(home: Home = None, as_json: AsJson = False) -> None:
    """List the registered chats."""
    from orchestrator.cli.groups import list_all

    list_all(home, as_json=as_json)


@group_app.command("show")
def group_show(folder: Folder, home: Home = None, as_json: AsJson = False) -> None:
    """Show one group with all its settings."""
    from orchestrator.cli.groups import show

    show(home, folder, as_json=as_json)


@group_app.command("set")
def group_set(
    folder: Folder,
    changes: Annotated[list[str], typer.Argument(metavar="NAME=VALUE…", help="What to change.")],
    home: Home = None,
) -> None:
    """Change settings of a group: name, trigger, requires_trigger, is_main, timezone, …"""
    from orchestrator.cli.groups import change

    change(home, folder, changes)


@group_app.command("remove")
def group_remove(folder: Folder, home: Home = None) -> None:
    """Forget a registration; its folder and messages stay."""
    from orchestrator.cli.groups import remove

    remove(home, folder)


add_keeping_commands(app)


def main() -> None:
    """Run a command. A failure is one sentence and what to do about it, and exit code 1.

    A reader that goes away is none: it ends the command in silence.
    """
    allow_any_text()
    gc.set_threshold(_NEW_OBJECTS)
    try:
        _run()
    except ReaderGone:
        sys.exit(READER_GONE)
    except DovecoteError as error:
        say_error(error)
        sys.exit(1)
    except Exception as error:  # the last owner of every fault: a person reads this, not a traceback
        place = _place(error)
        print(f"Error: Dovecote itself failed: {error!r}{place}.", file=sys.stderr)
        print("Please report this.", file=sys.stderr)
        sys.exit(1)
    finally:
        # The interpreter would look through all that was ever loaded once more, for a quarter of a second.
        gc.freeze()


def _run() -> None:
    """The command, with all of its output written. Raises DovecoteError where that fails."""
    try:
        app()
    except SystemExit as end:
        # Typer swallows a broken pipe.
        if isinstance(end.__context__, BrokenPipeError):
            raise unwritable(end.__context__) from None
        _flush()
        raise


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        raise unwritable(error) from None


def _place(error: BaseException) -> str:
    """Where the fault arose, as `, module.py line 12`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f", {Path(trace.tb_frame.f_code.co_filename).name} line {trace.tb_lineno}" if trace else ""
