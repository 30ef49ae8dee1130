"""`quorum fit`: learns a topology from episodes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo, echo_json
from quorum.experiments.verbs import options
from quorum.experiments.verbs.verb import Verb


def fit(
    what: Annotated[str, typer.Argument(metavar="topology", help="Learn this part.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Set these keys of the configuration, and engine=NAME."),
    ] = None,
    *,
    out: Annotated[Path, options.value("--out", "FILE", "Write the edges to this file.")] = Path("edges.yaml"),
    runs: Annotated[Path, options.value("--runs", "DIR", "Keep the episodes in this folder.")] = Path("runs"),
    objective: Annotated[str, options.value("--objective", "METRIC", "Improve this metric.")] = "outcome.return",
    rounds: Annotated[
        int, options.value("--rounds", "ROUNDS", "Play this many rounds; every fifth one prunes.", min=1)
    ] = 10,
    boards: Annotated[int, options.value("--boards", "BOARDS", "Play each round on this many new boards.", min=1)] = 4,
    graphs: Annotated[
        int,
        options.value("--graphs", "GRAPHS", "Draw this many graphs a round.", min=2),
    ] = 4,
    prune: Annotated[
        float,
        options.value("--prune", "SHARE", "Drop this share of the edges at a time.", min=0, max=1),
    ] = 0.25,
    dry_run: options.DryRun = False,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Learn who should write to whom, by AgentPrune.

    Each round draws graphs, plays them on the same boards, and makes the edges of the better ones more likely. Every
    fifth round drops the least likely edges. Use the file with topology=learned topology.edges=FILE. Run the same
    command again to resume. seed=N names the first board. A budget is for the whole fit, including finished episodes;
    with paid models, it is required.

    By the default objective a fit does not reliably prune the edges of agents that only do harm, because a few episodes
    differ more by chance than by one talker. To find such agents, use --objective model.completion_tokens. It also
    prefers teams that talk less, so compare the learned edges with others afterwards.

    \b
    Examples:
      quorum fit topology n=4 agents=naive max_steps=100
      quorum fit topology n=4 agents=negotiator --rounds 5 --out four.yaml
      quorum fit topology n=8 agents=naive --objective model.completion_tokens
      quorum fit topology n=8 agents=naive --rounds 5 --dry-run
    """
    from quorum.experiments.common.outputs import Output
    from quorum.experiments.sweep.fit.fitting import FitRequest, estimate_fit, fit_topology
    from quorum.experiments.sweep.run import Unfinished
    from quorum.experiments.sweep.spending import SweepBudget

    if what != "topology":
        raise UserError(f"fit {what}: this cannot be learned", "quorum fit topology KEY=VALUE...")
    budget = SweepBudget(budget_usd, budget_tokens, budget_calls)
    values = {"out": out, "runs": runs, "objective": objective, "rounds": rounds, "boards": boards}
    values |= {"graphs": graphs, "prune": prune}
    again = [word for name, value in values.items() if value is not None for word in (f"--{name}", str(value))]
    again += [word for module in plugin or () for word in ("--plugin", module)]
    again += [word for folder in config_dir or () for word in ("--config-dir", str(folder))]
    again += [*budget.words, *(["--force"] if force else [])]
    command = shlex.join(["quorum", "fit", what, *(words or ()), *again])
    request = FitRequest(
        tuple(words or ()),
        objective,
        rounds,
        boards,
        graphs,
        prune,
        runs,
        tuple(plugin or ()),
        tuple(config_dir or ()),
        budget,
        command,
    )
    if dry_run:
        expected = estimate_fit(request)
        over = budget.exceeded(expected["usd"] or 0.0, expected["tokens"], expected["answers"])
        options.print_estimate({**expected, **({"over_budget": over} if over else {})}, as_json=as_json)
        return
    output = Output(out, "--out", force)
    output.check()
    try:
        fitted = fit_topology(request, lambda line: echo(line, err=True), quiet=quiet)
    except Unfinished as stopped:
        echo("the fit is not finished", err=True)
        if stopped.sweep.complaint:
            echo(stopped.sweep.complaint, err=True)
        raise typer.Exit(stopped.sweep.exit_code or 1) from stopped
    output.write(fitted.as_yaml().encode())
    if as_json:
        echo_json({**fitted.plain(), "file": str(out)})
    elif not quiet:
        from quorum.experiments.common.consoles import Console

        Console().print(fitted.table(), soft_wrap=True)
        echo(f"{len(fitted.edges)} edges: {out}")


verb = Verb(fit, "Run", 30, "quorum fit topology n=4 agents=naive")
