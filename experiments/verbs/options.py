"""The arguments and options that several verbs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Set these keys, and leave all others at their defaults."),
]
Sweeps = Annotated[list[Path], typer.Argument(metavar="SWEEP...", help="Read these folders of sweeps, or of runs.")]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE",
        show_default="no module",
        help="Import this module, which registers components, metrics or figures. May be repeated.",
    ),
]
ConfigDir = Annotated[
    Path | None,
    typer.Option(
        "--config-dir", metavar="DIR", show_default="no folder", help="Find more options of the groups in this folder."
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Keep results in this folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output, and nothing else there.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse keys that have no effect, instead of telling them in a notice.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="FACTOR",
        show_default="change of branches, else the first of arm, topology, agents, model and env that varies",
        help="Compare the levels of this factor. May be repeated.",
    ),
]
Across = Annotated[
    str | None,
    typer.Option(
        "--across",
        metavar="FACTOR",
        show_default="n if it varies, else episode if that does",
        help="Compare at each value of this factor, the x axis of figures; `none` for no such axis.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="METRIC",
        show_default="those of the experiment, else success, completion and steps",
        help="Compare this metric. May be repeated.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="LEVEL",
        show_default="of branches `none`, in a report the first level, else no differences",
        help="Take paired differences from this level.",
    ),
]
Statistic = Annotated[
    str,
    typer.Option(
        "--statistic",
        metavar="mean|median|iqm",
        help="Show the mean, the median or the interquartile mean of the runs.",
    ),
]
AcceptVersions = Annotated[
    bool, typer.Option("--accept-versions", help="Pool runs of different versions of the code, prompts or plug-ins.")
]
Radar = Annotated[
    str,
    typer.Option(
        "--radar",
        metavar="attempts|improvements|emcoop",
        help="Show on the radar the share of attempts in which a constraint held, or the share of changed tasks that "
        "improved, as we or as EmCoop count them.",
    ),
]
Curves = Annotated[bool, typer.Option("--curves", help="Also show the score along the environment steps.")]
Minds = Annotated[
    list[str] | None,
    typer.Option(
        "--mind",
        metavar="AGENT=MIND",
        show_default="as in the run",
        help="Give an agent another mind from the instant on. May be repeated.",
    ),
]
Says = Annotated[
    list[str] | None,
    typer.Option(
        "--say",
        metavar="AGENT:TEXT",
        show_default="its own words",
        help="Have a participant send this message in its first turn to speak from the instant on. May be repeated.",
    ),
]
Plans = Annotated[
    list[str] | None,
    typer.Option(
        "--plan",
        metavar="AGENT:ACTIONS",
        show_default="its own plan",
        help="Have an agent commit these actions, a list in JSON, in its first turn to plan from the "
        "instant on. May be repeated.",
    ),
]
Drops = Annotated[
    list[int] | None,
    typer.Option(
        "--drop",
        metavar="MESSAGE",
        min=0,
        show_default="nothing",
        help="Have the message of the run with this id not be sent. May be repeated.",
    ),
]
Draws = Annotated[
    int,
    typer.Option("--draws", metavar="SAMPLES", min=1, help="Run this many samples from the instant, a folder each."),
]
WorldChanges = Annotated[
    str | None,
    typer.Option(
        "--world",
        metavar="CHANGES",
        show_default="as in the run",
        help="Change the state of the world at the begin of the step: a JSON object in the world's own words.",
    ),
]
