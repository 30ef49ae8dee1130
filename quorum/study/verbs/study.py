"""`quorum study`: is an effect real, and what does it consist of?"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.shorthand import shorthand
from quorum.verbs.verb import Verb
from quorum_base.user_errors import UserError

if TYPE_CHECKING:
    from quorum.study.study import Study


@shorthand
def study(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION", show_default="list the questions", help="Answer this question: talk, team or topology."
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUES", help="Set up the team to study, its boards and its draws."),
    ] = None,
    *,
    metric: options.Metrics = None,
    until: Annotated[
        str | None,
        options.value(
            "--until", "CONDITION", "Add boards until this holds: 'half_width(METRIC) < X'.", unset="no boards"
        ),
    ] = None,
    most_boards: Annotated[
        int, options.value("--most-boards", "BOARDS", "With --until, stop at this many boards.", min=1)
    ] = 200,
    plan: Annotated[
        bool, typer.Option("--plan", help="Show how many boards you need and what they cost; run no study.")
    ] = False,
    effect: Annotated[
        str | None,
        options.value("--for", "EFFECT", "With --plan, find this effect, such as 'content'.", unset="the answer"),
    ] = None,
    expect: Annotated[
        str | None,
        options.value(
            "--expect", "EFFECT,DEVIATION", "Expect this effect and standard deviation over boards.", unset="a pilot's"
        ),
    ] = None,
    power: Annotated[
        float,
        options.value(
            "--power", "SHARE", "With --plan, detect the effect in this share of studies.", min=0.05, max=0.99
        ),
    ] = 0.9,
    half_width: Annotated[
        float | None,
        options.value(
            "--half-width", "SIZE", "With --plan, aim for this half-width, in units of the metric.", unset="by --power"
        ),
    ] = None,
    out: options.Out = Path("runs"),
    study_name: options.Name = None,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
    accept_versions: options.AcceptVersions = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Answer whether an effect is real, and what it consists of.

    Without a question, lists them. Plays the given team and control arms on the same boards, or only the missing runs.
    Then writes the findings in words, the effects against the noise floor, a disclosure sheet, and a bundle that
    `quorum check` re-executes. "No effect above the noise floor" is a finding; the exit code does not depend on it.
    With paid models, a budget is required; it covers all arms.

    \b
    Examples:
      quorum study
      quorum study talk agents=naive topology=debate n=4 'draw=range(0,2)'
      quorum study team agents=naive topology=centralized env=transport
      quorum study topology agents=naive topology=debate --metric completion
      quorum study talk topology=debate agents=naive --plan --for content
      quorum study talk agents=naive topology=debate --until 'significant(steps)'
    """
    if name is None:
        _list(as_json=as_json)
        return
    from quorum.configuration.default_agents import completed, implied_agents
    from quorum.study.study import Study, StudyRequest

    given = completed(words or ())  # the minds are written down, as control arms drop the words that imply them
    if not quiet and (notice := implied_agents(words or ())):
        echo(f"notice: {notice}", err=True)
    request = StudyRequest(
        tuple(given),
        out,
        study_name,
        question=name,
        metrics=tuple(metric or ()),
        until=until or "",
        most_boards=most_boards,
        expected=_expected(expect),
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        budget_calls=budget_calls,
        accept_versions=accept_versions,
        plugins=tuple(plugin or ()),
        config_dir=tuple(config_dir or ()),
    )
    chosen = Study.of(request, with_keys=not plan)
    if plan:
        _plan(chosen, effect, power, half_width, as_json=as_json, quiet=quiet)
    else:
        _play(chosen, as_json=as_json, quiet=quiet)


def _list(*, as_json: bool) -> None:
    from quorum.comparison.formats import Table, print_tables
    from quorum.display.consoles import Console
    from quorum.study.question import load_question, question_names

    found = {name: load_question(name) for name in question_names()}
    if as_json:
        echo_json({name: question.model_dump(mode="json") for name, question in found.items()})
        return
    rows = tuple((name, question.asks, ", ".join(question.arms)) for name, question in found.items())
    print_tables([Table("Questions", ("name", "question", "control arms"), rows, labels=3)], [], Console())


def _expected(text: str | None) -> tuple[float, float] | None:
    """Read the expected effect.

    Raises:
        UserError: it is not an effect with a deviation above 0.
    """
    if text is None:
        return None
    try:
        effect, deviation = map(float, text.split(","))
    except ValueError:
        effect = deviation = 0.0
    if not (effect and deviation > 0 and isfinite(effect) and isfinite(deviation)):
        raise UserError(f"--expect {text}: not an effect with its deviation", "For example: --expect 5,12")
    return effect, deviation


def _play(study: Study, *, as_json: bool, quiet: bool) -> None:
    from quorum.comparison.formats import print_tables
    from quorum.display.consoles import Console
    from quorum.study.findings import findings
    from quorum.study.play import Unfinished, play
    from quorum.study.tables import tables
    from quorum.study.write import facts, write_study

    try:
        played = play(study, quiet=quiet)
    except Unfinished as nothing:
        echo(nothing.sweep.complaint or "no run of the treatment counts", err=True)
        raise typer.Exit(nothing.sweep.exit_code or 1) from nothing
    files = write_study(played)
    if as_json:
        echo_json({**facts(played), "sweep": played.sweep.to_json()})
    elif not quiet:
        for finding in findings(played):
            echo(f"- {finding}")
        print_tables(tables(played)[:2], [], Console())
        for arm, reason in study.skipped.items():
            echo(f"not played: {arm}: {reason}")
        echo(f"\n{', '.join(file.name for file in files)} in {study.folder}")
    if played.sweep.complaint:
        echo(played.sweep.complaint, err=True)
    if played.sweep.exit_code:
        raise typer.Exit(played.sweep.exit_code)


def _plan(study: Study, of: str | None, power: float, half_width: float | None, *, as_json: bool, quiet: bool) -> None:
    from quorum.comparison.formats import print_tables
    from quorum.display.consoles import Console
    from quorum.study.planning import designs, expect, table

    expected = expect(study, of, quiet=quiet)
    found = designs(study, expected, power=power, half_width=half_width)
    if as_json:
        plain = [{"boards": boards, "draws": draws, **cost.to_json()} for boards, draws, cost in found]
        known = {"effect": expected.effect, "between": expected.between, "within": expected.within}
        echo_json({"for": expected.file.name, **known, "designs": plain})
        return
    wanted = f"a power of {power:g}" if half_width is None else f"an interval of half-width {half_width:g}"
    print_tables([table(study, expected, found, wanted)], [], Console())


def _questions() -> Iterator[tuple[str, str]]:
    from quorum.study.question import load_question, question_names

    return ((name, load_question(name).asks) for name in question_names())


verb = Verb(study, "Compare", 10, _questions)
