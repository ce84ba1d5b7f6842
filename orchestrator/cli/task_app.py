"""The words of `dovecote task`. Each command loads what it needs by itself."""

from typing import Annotated, Optional

import typer

from orchestrator.cli.options import AsJson, Count, Home

task_app = typer.Typer(help="See and change what is scheduled.", no_args_is_help=True)
TaskId = Annotated[str, typer.Argument(metavar="TASK", help="Its id, as the list shows it.")]


@task_app.command("list")
def task_list(
    group: Annotated[Optional[str], typer.Option("--group", help="Only those of this group.")] = None,  # noqa: UP045 — typer
    ended: Annotated[bool, typer.Option("--ended", help="Those that are over instead.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks that are active or paused."""
    from orchestrator.cli.tasks import list_all

    list_all(home, group=group, ended=ended, as_json=as_json)


@task_app.command("show")
def task_show(task: TaskId, home: Home = None, as_json: AsJson = False) -> None:
    """Show one task, ended ones too."""
    from orchestrator.cli.tasks import show

    show(home, task, as_json=as_json)


@task_app.command("history")
def task_history(task: TaskId, count: Count = 20, home: Home = None, as_json: AsJson = False) -> None:
    """Show the newest runs of a task and what came of them."""
    from orchestrator.cli.tasks import history

    history(home, task, count=count, as_json=as_json)


@task_app.command("add")
def task_add(
    folder: Annotated[str, typer.Argument(help="The group's folder below groups/.")],
    prompt: Annotated[str, typer.Argument(help="What the agent is to do.")],
    cron: Annotated[Optional[str], typer.Option(help="Five fields, or @daily and its kind.")] = None,  # noqa: UP045 — typer
    every: Annotated[Optional[str], typer.Option(help="A span such as 90m, 2h or 1d.")] = None,  # noqa: UP045 — typer
    at: Annotated[Optional[str], typer.Option(help="Once, such as 2027-01-05T14:00.")] = None,  # noqa: UP045 — typer
    title: Annotated[Optional[str], typer.Option(help="What people call it.")] = None,  # noqa: UP045 — typer
    timezone: Annotated[Optional[str], typer.Option(help="IANA name; else the group's.")] = None,  # noqa: UP045 — typer
    isolated: Annotated[bool, typer.Option("--isolated", help="Not in the group's conversation.")] = False,
    catch_up: Annotated[str, typer.Option(help="Of missed runs: latest, skip or all.")] = "latest",
    quiet: Annotated[bool, typer.Option("--quiet", help="Its texts are kept, not sent.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Schedule a prompt for a group."""
    from orchestrator.cli.tasks import add, new_task

    new = new_task(
        folder,
        prompt,
        cron=cron,
        every=every,
        at=at,
        title=title,
        timezone=timezone,
        context_mode="isolated" if isolated else "group",
        catch_up=catch_up,
        notify=not quiet,
    )
    add(home, new, as_json=as_json)


@task_app.command("pause")
def task_pause(task: TaskId, home: Home = None, as_json: AsJson = False) -> None:
    """Let a task rest; a run under way goes on."""
    from orchestrator.cli.tasks import take
    from orchestrator.contracts.wire.task_requests import PauseTask

    take(home, PauseTask(task_id=task), as_json=as_json)


@task_app.command("resume")
def task_resume(task: TaskId, home: Home = None, as_json: AsJson = False) -> None:
    """Let a task run again; what it missed is not made up for."""
    from orchestrator.cli.tasks import take
    from orchestrator.contracts.wire.task_requests import ResumeTask

    take(home, ResumeTask(task_id=task), as_json=as_json)


@task_app.command("cancel")
def task_cancel(task: TaskId, home: Home = None, as_json: AsJson = False) -> None:
    """End a task for good, with the run under way; its history stays."""
    from orchestrator.cli.tasks import take
    from orchestrator.contracts.wire.task_requests import CancelTask

    take(home, CancelTask(task_id=task), as_json=as_json)


@task_app.command("run")
def task_run(task: TaskId, home: Home = None, as_json: AsJson = False) -> None:
    """Run a task now, once; its schedule does not move."""
    from orchestrator.cli.tasks import take
    from orchestrator.contracts.wire.task_requests import RunTask

    take(home, RunTask(task_id=task), as_json=as_json)
