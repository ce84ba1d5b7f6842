"""Options that many commands share."""

from pathlib import Path
from typing import Annotated, Optional

import typer

Home = Annotated[
    Optional[Path],  # noqa: UP045 — typer reads this at run time
    typer.Option(
        "--home", help="Where groups and data lie; else $DOVECOTE_HOME, else the working directory."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Folder = Annotated[str, typer.Argument(help="Its folder below groups/.")]
Count = Annotated[int, typer.Option("--count", min=1, max=1_000, help="At most so many.")]
Tree = Annotated[
    Optional[str],  # noqa: UP045 — typer reads this at run time
    typer.Option("--tree", help="Only those of this tree."),
]
Since = Annotated[
    Optional[int],  # noqa: UP045 — typer reads this at run time
    typer.Option("--since", min=0, help="Those behind this cursor; with --tree, behind this number."),
]
