"""`quorum new`: writes a package with your own component."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo
from quorum.verbs import options
from quorum.verbs.verb import Verb


def new(
    kind: Annotated[str, typer.Argument(metavar="world|mind|topology|metric", help="Write a package of this kind.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name the package and its component.")],
    *,
    out: Annotated[Path, options.value("--out", "DIR", "Write the package to this folder.")] = Path(),
) -> None:
    """Write a package with a world, a mind, a topology or a metric.

    It is small, complete and installable, and passes its own test. Change it step by step.

    \b
    Examples:
      quorum new world doors
      quorum new mind chooser --out my_packages
      quorum new topology pairs
      quorum new metric questions
    """
    from quorum.new.package import write_package

    commands = write_package(kind, name, out)
    echo(f"{out / name} is complete. Try it:\n" + "\n".join(f"  {line}" for line in (f"cd {out / name}", *commands)))


verb = Verb(new, "Set up", 20)
