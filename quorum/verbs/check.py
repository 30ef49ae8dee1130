"""`quorum check`: checks this installation, a configuration, or recorded folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.installation.hooks import hook
from quorum.verbs import options
from quorum.verbs.shorthand import shorthand
from quorum.verbs.verb import Verb
from quorum_base.user_errors import UserError


@shorthand
def check(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE|RUN|SWEEP|STUDY", help="Check this configuration, or verify these folders."),
    ] = None,
    *,
    out: options.Out = Path("runs"),
    compile_: Annotated[bool, typer.Option("--compile", help="Compile all kernels now, not in the first run.")] = False,
    prices: Annotated[
        bool, typer.Option("--prices", help="List the prices of models: their sources, dates and ages.")
    ] = False,
    drift: Annotated[
        Path | None,
        options.value("--drift", "RUN", "Send prompts of this run again, and compare the answers.", unset="no run"),
    ] = None,
    budget_usd: options.BudgetUsd = None,
    budget_calls: options.BudgetCalls = None,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Check the installation and a configuration, or verify folders.

    It checks the packages, the folder for results, and everything that a run would reject: whether the configuration
    composes, its components build, and its first prompt renders. With llm=... it also sends one tiny request to the
    model, which a provider may charge for. The exit code is 1 if a needed part fails.

    For a RUN or a SWEEP, it reads every byte, and checks files against digests, the hash against the configuration,
    and metrics against the trace. It names what is damaged, and the command that repairs it. The exit code is 1 if
    something is damaged.

    For a STUDY, it also rebuilds the sheet, and plays every run again from the recorded
    replies: each trace must be identical except for the wall clock. It calls no model.

    With --drift, it sends up to 20 recorded prompts twice each to the service of the run, with the key that its
    configuration names, and compares the answers. The budget covers these calls. The exit code is 1 if drift is found.

    \b
    Examples:
      quorum check
      quorum check runs/talk
      quorum check runs/study-NAME
      quorum check n=16 --out /data/runs
      quorum check llm=simulated
      quorum check llm=openai llm.model=NAME
      quorum check --prices
      quorum check --drift runs/talk
    """
    if sum((bool(words), prices, drift is not None)) > 1:
        raise UserError("check: give a configuration or folders, --prices, or --drift RUN: one of the three")
    if drift is None and (budget_usd, budget_calls) != (None, None):
        raise UserError("check: a budget is for --drift RUN")
    if drift is not None:
        from quorum.agents.llm.spending import Budget

        hook("check_drift", "check --drift")(drift, Budget(usd=budget_usd, calls=budget_calls), as_json=as_json)
        return
    folders, settings = options.split_folders(words or [])
    if folders and settings:
        raise UserError(f"check: {folders[0]} is a folder and {settings[0]} a configuration: give one of the two")
    if folders:
        _verify(folders, plugin or [], as_json=as_json)
        return
    from dataclasses import asdict, replace
    from datetime import date

    from quorum.agents.llm.redaction import redact_message
    from quorum.episode.checks import check as findings_of
    from quorum.episode.checks import price_findings

    found = price_findings(date.today()) if prices else findings_of(settings, out, config_dir or (), compiled=compile_)
    findings = [replace(finding, detail=redact_message(finding.detail)) for finding in found]
    failures = [finding for finding in findings if finding.needed and not finding.fine]
    if as_json:
        echo_json([asdict(finding) for finding in findings])
    else:
        from rich.table import Table

        from quorum.display.consoles import Console, Text

        table = Table.grid(padding=(0, 2))
        for finding in findings:
            sign = Text("ok", "green") if finding.fine else Text("FAILS", "bold red") if finding.needed else Text("-")
            table.add_row(sign, Text(finding.subject), Text(finding.detail, overflow="fold"))
        console = Console()
        console.print(table)
        if not failures and not prices:
            console.print(Text("nothing that a run needs is missing"))
        for finding in failures[:1]:
            console.print(Text(f"a run would fail: {finding.subject}: {finding.detail}", "bold red", overflow="fold"))
    if failures:
        raise typer.Exit(1)


def _verify(folders: list[Path], plugins: list[str], *, as_json: bool) -> None:
    from quorum.display.consoles import at_work
    from quorum.runs.archives import unpacked
    from quorum.runs.newest import parts_of
    from quorum.runs.verify import check_folder

    check_other = hook("check_folder")
    folders = [part for folder in folders for part in parts_of(folder)]
    with at_work("checking ..."), unpacked(folders, verify=False) as places:
        found = [(check_other and check_other(place, plugins)) or check_folder(place, plugins) for place in places]
    if as_json:
        echo_json([{**part.to_json(), "folder": str(folder)} for part, folder in zip(found, folders, strict=True)])
    else:
        for part, place, folder in zip(found, places, folders, strict=True):
            for line in part.lines():
                echo(line.replace(str(place), str(folder)))
    if any(part.damaged for part in found):
        raise typer.Exit(1)


verb = Verb(check, "Set up", 30)
