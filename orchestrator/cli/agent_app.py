"""The words of `dovecote agent`. Each command loads what it needs by itself."""

from typing import Annotated, Optional

import typer

from orchestrator.cli.options import AsJson, Home

agent_app = typer.Typer(
    help="The agents: how they are defined, which there are, what they do.", no_args_is_help=True
)
TreeOrAgent = Annotated[
    Optional[str],  # noqa: UP045 — typer reads this at run time
    typer.Argument(metavar="ID", help="A tree, or an agent in it; all without it."),
]
Agent = Annotated[str, typer.Argument(metavar="AGENT", help="Its id; that of a tree stands for its root.")]


@agent_app.command("check")
def agent_check(
    group: Annotated[Optional[str], typer.Argument(help="Its folder below groups/; all without it.")] = None,  # noqa: UP045 — typer
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show what an agent would be at its next start; exit code 1 if none could be started."""
    from orchestrator.cli.definition_lists import check

    raise typer.Exit(check(home, group, as_json=as_json))


@agent_app.command("list")
def agent_list(
    ended: Annotated[bool, typer.Option("--ended", help="Also those that ended within a day.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List the agents that live."""
    from orchestrator.cli.agent_trees import list_agents

    list_agents(home, ended=ended, as_json=as_json)


@agent_app.command("tree")
def agent_tree(
    tree: TreeOrAgent = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show who came of whom, what each does, and what it cost."""
    from orchestrator.cli.agent_trees import show_trees

    show_trees(home, tree, as_json=as_json)


@agent_app.command("show")
def agent_show(agent: Agent, home: Home = None, as_json: AsJson = False) -> None:
    """Show all that is known of an agent, its output too."""
    from orchestrator.cli.agent_trees import show_agent

    show_agent(home, agent, as_json=as_json)


@agent_app.command("logs")
def agent_logs(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="Its id; that of a tree stands for all of it.")
    ],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until it has ended.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show what an agent said and what happened to it."""
    from orchestrator.cli.agent_trees import show_log

    show_log(home, agent, follow=follow, as_json=as_json)


@agent_app.command("stop")
def agent_stop(agent: Agent, home: Home = None) -> None:
    """Stop an agent and all below it; exit code 1 if one could not be stopped."""
    from orchestrator.cli.agent_trees import stop_agent

    raise typer.Exit(stop_agent(home, agent))
