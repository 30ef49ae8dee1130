"""The arguments and options that several verbs have: each has one name, one meaning and one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Set these keys. All others keep their defaults."),
]
Sweep = Annotated[Path, typer.Argument(metavar="SWEEP", help="Read this folder of a sweep, or of runs.")]
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
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV to standard output, and nothing else there.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse keys that have no effect, which are a notice otherwise.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
Port = Annotated[
    int, typer.Option("--port", metavar="PORT", help="Serve on this port of this machine; 0 takes any free one.")
]
BudgetUsd = Annotated[
    float | None,
    typer.Option(
        "--budget-usd",
        metavar="USD",
        show_default="no limit",
        help="Stop when language models have cost this many US dollars.",
    ),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens",
        metavar="TOKENS",
        show_default="no limit",
        help="Stop when language models have read and written this many tokens.",
    ),
]
BudgetCalls = Annotated[
    int | None,
    typer.Option(
        "--budget-calls",
        metavar="CALLS",
        show_default="no limit",
        help="Stop after this many calls of language models.",
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        show_default="from the experiment and the keys",
        help="Give the sweep and its folder this name.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would run, and its calls, tokens and US dollars. Run nothing."),
]
SkipInvalid = Annotated[
    bool, typer.Option("--skip-invalid", help="Leave out the cells that cannot run, and run the others.")
]
AcceptVersions = Annotated[
    bool,
    typer.Option("--accept-versions", help="Mix results of different versions of the code, prompts or plug-ins."),
]
Draws = Annotated[int, typer.Option("--draws", metavar="SAMPLES", min=1, help="Play each branch this many times.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="FACTOR",
        show_default="change for branches, else the first of arm, topology, agents, model and env that varies",
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
        show_default="`none` for branches, the first level in a report, else no differences",
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
Radar = Annotated[
    str,
    typer.Option(
        "--radar",
        metavar="attempts|improvements|emcoop",
        help="Show on the radar the share of attempts that met a constraint, or the share of changed tasks that "
        "improved, by our count or by EmCoop's.",
    ),
]
Curves = Annotated[bool, typer.Option("--curves", help="Also show the score along the environment steps.")]
