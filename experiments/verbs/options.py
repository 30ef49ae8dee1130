"""The arguments and options that several verbs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Overrides = Annotated[
    list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Values that differ from the defaults.")
]
Sweeps = Annotated[list[Path], typer.Argument(metavar="SWEEP...", help="Folders of sweeps, or of runs.")]
Plugins = Annotated[
    list[str] | None,
    typer.Option("--plugin", metavar="MODULE", help="Import a module that registers components, metrics or figures."),
]
ConfigDir = Annotated[
    Path | None, typer.Option("--config-dir", metavar="DIR", help="A folder with more options of the groups.")
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for results.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse keys that have no effect, instead of telling them.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
By = Annotated[list[str] | None, typer.Option("--by", metavar="FACTOR", help="What to compare; may be repeated.")]
Across = Annotated[str | None, typer.Option("--across", metavar="FACTOR", help="The x axis: n if it varies, or none.")]
Metrics = Annotated[list[str] | None, typer.Option("--metric", metavar="METRIC", help="A metric; may be repeated.")]
Baseline = Annotated[
    str | None, typer.Option("--baseline", metavar="LEVEL", help="Take paired differences from this level.")
]
Statistic = Annotated[str, typer.Option("--statistic", metavar="mean|median|iqm", help="The statistic to show.")]
AcceptVersions = Annotated[
    bool, typer.Option("--accept-versions", help="Pool runs of different versions of the code, prompts or plug-ins.")
]
Radar = Annotated[
    str,
    typer.Option("--radar", metavar="attempts|improvements|emcoop", help="What the radar shows of constraints."),
]
Curves = Annotated[bool, typer.Option("--curves", help="Also show the score along the steps.")]
