"""Arguments and options shared by several verbs: each has one name, one meaning and one help text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from quorum.display.terminal import echo, echo_json


def value(name: str, metavar: str, help_: str, *, unset: str | bool = True, also: str = "", **bounds: Any) -> Any:
    """Declare an option that takes a value.

    Args:
        name: name of the option, `--name`.
        metavar: kind of value, with its unit.
        help_: what the option does, in a sentence.
        unset: description of the behavior without the option; True: the help shows the default.
        also: another name of the option.
        bounds: `min` and `max` of a number.
    """
    return typer.Option(*filter(None, (name, also)), metavar=metavar, help=help_, show_default=unset, **bounds)


def values(name: str, metavar: str, help_: str, **more: Any) -> Any:
    """Declare an option that takes a value and may be repeated; see `value` for the arguments."""
    return value(name, metavar, f"{help_} May be repeated.", **more)


def split_folders(words: list[str]) -> tuple[list[Path], list[str]]:
    """Separate folders from configuration arguments: a word without `=` is a folder, unless it deletes a key (`~KEY`).

    A folder whose own name contains `=` needs a slash before it.
    """
    folders = [word for word in words if "/" in word.partition("=")[0] or not ("=" in word or word.startswith("~"))]
    return [Path(folder) for folder in folders], [word for word in words if word not in folders]


def print_estimate(expected: Mapping[str, object], *, as_json: bool) -> None:
    """Print what a command would take, by name; unknown amounts are shown as `unknown`."""
    if as_json:
        echo_json(dict(expected))
        return
    for name, amount in expected.items():
        echo(f"{name.replace('_', ' '):16}{'unknown' if amount is None else amount}")


def folders(metavar: str, help_: str) -> Any:
    """Declare an argument of folders with results; `or_newest` replaces a missing one."""
    return typer.Argument(metavar=metavar, help=help_, show_default="the newest sweep in runs")


def or_newest(named: Sequence[Path] | None) -> list[Path]:
    """Return the named folders, or the newest sweep in `runs`, which standard error then shows.

    Raises:
        UserError: none is named, and `runs` contains neither sweeps nor runs.
    """
    if named:
        return [*named]
    from quorum.runs.newest import RUNS, newest

    found = newest()
    echo(f"reading {found}, {'which contains no sweep' if found == RUNS else f'the newest sweep in {RUNS}'}", err=True)
    return [found]


Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Set these keys. All others keep their defaults."),
]
Sweep = Annotated[Path | None, folders("SWEEP|RUN", "Read this folder of a sweep, of runs, or of one run.")]
Plugins = Annotated[
    list[str] | None,
    values(
        "--plugin",
        "MODULE|PATH",
        "Import this module, which registers components, metrics or figures.",
        unset="no module",
    ),
]
ConfigDirs = Annotated[
    list[Path] | None,
    values("--config-dir", "DIR", "Find more options of the groups in this folder.", unset="no folder"),
]
Out = Annotated[Path, value("--out", "DIR", "Keep results in this folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output, and nothing else there.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV to standard output, and nothing else there.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Reject keys that have no effect; without it, they only cause a notice.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Write = Annotated[bool, typer.Option("--write", help="Store the computed metrics in metrics.json next to each trace.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]
Port = Annotated[
    int, value("--port", "PORT", "Serve on this port of this machine; 0 takes any free one.", min=0, max=65535)
]
BudgetUsd = Annotated[
    float | None,
    value("--budget-usd", "USD", "Stop when language models have cost this many US dollars.", unset="no limit"),
]
BudgetTokens = Annotated[
    int | None,
    value("--budget-tokens", "TOKENS", "Stop when language models have used this many tokens.", unset="no limit"),
]
BudgetCalls = Annotated[
    int | None,
    value("--budget-calls", "CALLS", "Stop after this many calls to language models.", unset="no limit"),
]
Name = Annotated[
    str | None,
    value(
        "--name",
        "NAME",
        "Create the folder of the sweep in --out with this name.",
        unset="from the experiment and the keys",
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
Draws = Annotated[int, value("--draws", "SAMPLES", "Play each branch this many times.", min=1)]
By = Annotated[
    list[str] | None,
    values(
        "--by",
        "FACTOR",
        "Compare the levels of this factor.",
        unset="change for branches, else the first of arm, topology, agents, model, env and other keys that varies",
    ),
]
Across = Annotated[
    str | None,
    value(
        "--across",
        "FACTOR",
        "Compare at each value of this factor, the x axis of figures; `none` for no axis.",
        unset="n if it varies, else episode if that does",
    ),
]
Metrics = Annotated[
    list[str] | None,
    values("--metric", "METRIC", "Compare this metric.", unset="the experiment's, else success, completion and steps"),
]
Baseline = Annotated[
    str | None,
    value(
        "--baseline",
        "LEVEL",
        "Take paired differences from this level.",
        unset="`none` for branches, the first level in a report, else no differences",
    ),
]
Statistic = Annotated[
    str,
    value("--statistic", "mean|median|iqm", "Show the mean, the median or the interquartile mean of the runs."),
]
Spent = Annotated[
    str | None,
    value(
        "--budget",
        "tokens|usd|calls|thoughts|seconds",
        "Also compare at equal budgets of this quantity, from the traces.",
        unset="only at the end of the runs",
    ),
]
