"""Every kind of figure, as wide as a column or a page: no text is cut off or covered, and marks are in their place."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from maeil.metrics import METRICS
from quorum.comparison import FIRST, Comparison, Question, compare
from quorum.comparison.figures import FIGURES, Drawing, answer, drawings_of, panels, style
from quorum.comparison.figures.captions import caption
from quorum.comparison.spent import AtBudgets
from quorum.runs import read_results
from tests.folders import outcome, write_plan, write_run

TEAMS = ("individual", "debate", "centralized", "hybrid", "hierarchy", "decentralized")
MODELS = ("a_rather_long_name_of_a_model-2025-11-12-instruct", "another-long-name/of-a-provider/model-70b-instruct-fp8")
ASKED = ("outcome.success", "outcome.completion", "outcome.steps")
TABLE = {
    "source": "A paper with a long title that is cited here, arXiv 2511.00001, Table 2",
    "factors": ["topology.name", "llm.model", "n"],
    "metrics": ["outcome.steps", "outcome.success"],
    "rows": [["individual", "gpt-4o", 2, [50, 3], 0.9], ["debate", "gpt-4o-mini", 8, 33, 0.6]],
}


def played(
    folder: Path, question: Question, key: str, levels: tuple[str, ...], **across: tuple[object, ...]
) -> Comparison:
    """Write runs on eight boards, all of which succeed for the first value of `across`, and compare them."""
    drawn, cells = random.Random(0), []
    ((factor, values),) = across.items()
    for number, level in enumerate(levels):
        for place, value in enumerate(values):
            for seed in range(8):
                name = f"{number}-{place}-{seed}"
                steps = 60 - 4 * number + drawn.randint(-9, 9)
                found = outcome(
                    success=not place or drawn.random() < 0.5, completion=drawn.random(), steps=steps,
                    model__usd=0.01 * (number + 1) + 0.001 * place, model__calls=9, communication__messages=3 * number,
                    decision__overhead=0.25 + drawn.random() / 500, plans__coherence=0.98,
                    plans__stability=drawn.random(),
                    constraints__satisfied_spatial=drawn.random(),
                    constraints__satisfied_temporal=drawn.random(),
                    constraints__missing_temporal=seed, constraints__missing_participation=1,
                    constraints__missing_none=number, failure__repetition=1, failure__termination=place,
                )  # fmt: skip
                meta = {"simulated": True, "models": ["simulated"]}
                digest = write_run(folder, found, name=name, seed=seed, meta=meta, **{key: level, factor: value})
                cells.append((name, digest, None))
    write_plan(folder, cells, published=TABLE)
    return compare([read_results(folder)], replace(question, metrics=ASKED, baseline=FIRST))


def at_budgets(comparison: Comparison) -> AtBudgets:
    """Make up what the levels come to at three budgets."""
    metric = ASKED[1]
    lines = {(metric, *key): (group.estimate(metric, "mean"),) * 3 for key, group in comparison.groups.items()}
    return AtBudgets("tokens", (metric,), dict.fromkeys(comparison.points, (0, 5_000, 10_000)), lines, {}, ())


@pytest.fixture(scope="module", params=["six teams", "long names", "words across", "rows"])
def comparison(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = tmp_path_factory.mktemp("figures")
    by_team, by_model = Question(by=["topology"]), Question(by=["llm.model"])
    match request.param:
        case "six teams":
            found = played(folder, by_team, "topology__name", TEAMS, n=(2, 8))
        case "long names":
            found = played(folder, by_model, "llm__model", MODELS, n=(2, 4, 8))
        case "words across":
            layouts = ("open_field", "narrow_corridor", "squeeze_with_walls")
            asked = replace(by_team, across="env.layout")
            found = played(folder, asked, "topology__name", TEAMS[:3], env__layout=layouts)
        case _:
            found = played(folder, by_team, "topology__name", TEAMS, n=(2,))
    return replace(found, budgets=at_budgets(found))


def shown_texts(figure: Figure) -> Iterator[Text]:
    """Yield each text that a reader sees."""
    hidden = set()
    for axes in figure.axes:
        for along, axis, limits in ((0, axes.xaxis, axes.get_xlim()), (1, axes.yaxis, axes.get_ylim())):
            for label in (*axis.get_majorticklabels(), *axis.get_minorticklabels()):
                if not axes.axison or not min(limits) <= label.get_position()[along] <= max(limits):
                    hidden.add(label)
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_text().strip() and text.get_visible() and text not in hidden:
            yield text


def overlap(one: Text, mine: Bbox, other: Text, its: Bbox) -> bool:
    """Whether two texts overlap by more than a pixel; boxes of slanted ones may, if their lines are apart."""
    wide, high = min(mine.x1, its.x1) - max(mine.x0, its.x0), min(mine.y1, its.y1) - max(mine.y0, its.y0)
    if wide <= 1 or high <= 1:
        return False
    slant = math.radians(one.get_rotation())
    if one.get_rotation() % 90 == 0 or one.get_rotation() != other.get_rotation():
        return True
    apart = (mine.x1 - its.x1) * math.sin(slant) - (mine.y1 - its.y1) * math.cos(slant)
    return abs(apart) < one.get_fontsize() * one.get_figure(root=True).dpi / 72


def mistakes(figure: Figure) -> list[str]:
    """Return what is cut off, and which texts overlap."""
    figure.draw_without_rendering()
    boxes, whole = [(text, text.get_window_extent()) for text in shown_texts(figure)], figure.bbox
    cut = [text for text, box in boxes if (box.min < whole.min).any() or (box.max > whole.max).any()]
    pairs = [(one, other) for (one, mine), (other, its) in combinations(boxes, 2) if overlap(one, mine, other, its)]
    return [
        *(f"cut off: {text.get_text()!r}" for text in cut),
        *(f"overlap: {one.get_text()!r} and {other.get_text()!r}" for one, other in pairs),
    ]


@pytest.fixture(scope="module")
def drawings(comparison: Comparison) -> list[tuple[str, Drawing]]:
    """Draw every kind of figure of a comparison."""
    with style.styled():
        return [(name, one) for name, draw in FIGURES.items() for one in drawings_of(name, draw, comparison)]


def test_no_kind_of_figure_cuts_a_text_off_or_covers_one(
    comparison: Comparison, drawings: list[tuple[str, Drawing]]
) -> None:
    with style.styled():
        for _, drawing in drawings:
            assert mistakes(drawing.figure) == [], drawing.name
            assert drawing.figure.get_figwidth() in (3.3, 7.0)
    kinds = {"metrics", "overview", "difference", "budgets", "radar", "failures", "failure_kinds", "pareto"}
    if comparison.across == "n":
        kinds.add("published")
    assert {name for name, _ in drawings} == kinds & FIGURES.keys()


def test_no_text_of_a_figure_has_an_internal_name(drawings: list[tuple[str, Drawing]]) -> None:
    for _, drawing in drawings:
        shown = (text.get_text() for text in shown_texts(drawing.figure))
        words = {word for text in (drawing.description, drawing.caption, *shown) for word in text.split()}
        assert not words & {*METRICS, "topology.name", "llm.model", "env.layout"}, drawing.name


def test_the_check_sees_what_is_cut_off_and_what_overlaps() -> None:
    with style.styled():
        figure = style.sheet(1, height=1.0).figure
        figure.text(0.9, 0.5, "far too long for what is left")
        figure.text(0.3, 0.3, "one")
        figure.text(0.3, 0.3, "two")
        found = mistakes(figure)
    assert "cut off: 'far too long for what is left'" in found
    assert "overlap: 'one' and 'two'" in found


def panels_of(comparison: Comparison) -> dict[str, Axes]:
    """Draw each compared metric, and give its panel."""
    with style.styled():
        return {drawing.name: drawing.figure.axes[0] for drawing in FIGURES["metrics"](comparison)}


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return played(tmp_path_factory.mktemp("teams"), Question(by=["topology"]), "topology__name", TEAMS, n=(2, 8))


def test_each_mark_stands_near_its_n(teams: Comparison) -> None:
    (axes,) = [axes for name, axes in panels_of(teams).items() if name == "outcome.steps"]
    places = sorted(2 ** float(x) for container in axes.containers for x in container[0].get_xdata())
    assert len(places) == 12
    assert all(abs(place - 2) < 0.4 for place in places[:6])
    assert all(abs(place - 8) < 1.4 for place in places[6:])


@pytest.mark.parametrize(("places", "levels"), [([1, 3], 6), ([1, 2, 3, 4], 3), ([0.0], 4), ([1, 1.2, 5], 8)])
def test_levels_at_one_value_take_at_most_half_of_the_way_to_the_next(places: list[float], levels: int) -> None:
    gap = min((after - before for before, after in pairwise(places)), default=1.0)
    assert 0 < panels.dodge(places, levels) * levels <= gap / 2


def test_a_share_has_its_whole_range_with_a_tick_at_1(teams: Comparison) -> None:
    axes = panels_of(teams)["outcome.success"]
    assert list(axes.get_yticks()) == [0, 0.25, 0.5, 0.75, 1]
    low, high = axes.get_ylim()
    assert low < 0
    assert high > 1


def test_where_all_succeed_the_interval_is_that_of_the_table(teams: Comparison) -> None:
    found = teams.groups["debate", 2].estimate("outcome.success", "mean")
    assert (found.value, found.high) == (1, 1)
    bars = panels_of(teams)["outcome.success"].containers[1][2][0]
    assert bars.get_segments()[0][:, 1].tolist() == pytest.approx([found.low, 1])


def test_an_axis_is_never_a_sliver(teams: Comparison) -> None:
    """The overheads differ by less than 1 %: they look alike."""
    shown = panels_of(replace(teams, metrics=("decision.overhead", "plans.coherence")))
    low, high = shown["decision.overhead"].get_ylim()
    assert high - low >= 0.06
    low, high = shown["plans.coherence"].get_ylim()
    assert high - low >= 0.25
    assert 0 <= low < 1 < high <= 1.05


def test_the_answer_is_the_differences_with_the_first_metric_first(teams: Comparison) -> None:
    with style.styled():
        drawing = answer(teams)
        assert drawing is not None
        success, completion, steps = drawing.figure.axes
    titles = [axes.get_title(loc="left") for axes in (success, completion, steps)]
    assert titles == ["success ↑", "completion ↑", "steps ↓"]
    assert all(axes.get_ylim()[0] < 0 < axes.get_ylim()[1] for axes in (success, completion, steps))
    drawn = {round(float(y), 9) for container in steps.containers for y in container[0].get_ydata()}
    assert drawn == {round(item.mean.value, 9) for item in teams.differences if item.metric == "outcome.steps"}
    legend = [text.get_text() for text in drawing.figure.legends[0].get_texts()]
    assert legend == list(TEAMS[1:])


def test_a_filled_mark_is_a_difference_that_is_significant_after_the_correction(teams: Comparison) -> None:
    items = [replace(item, p_holm=0.05 if item.level == "decentralized" else 0.051) for item in teams.differences]
    with style.styled():
        drawing = answer(replace(teams, metrics=("outcome.steps",), differences=tuple(items)))
    assert drawing is not None
    (axes,) = drawing.figure.axes
    filled = {
        float(y)
        for container in axes.containers
        for y in container[0].get_ydata()
        if container[0].get_markerfacecolor() != "none"
    }
    steps = [item for item in items if item.metric == "outcome.steps"]
    assert filled == {item.mean.value for item in steps if item.level == "decentralized"}


def test_without_a_baseline_the_answer_is_the_metrics(teams: Comparison) -> None:
    with style.styled():
        drawing = answer(replace(teams, differences=(), baseline=None))
    assert drawing is not None
    assert drawing.description == "Success, completion and steps by topology across n: mean"
    assert "sign-flip" not in drawing.caption


def test_a_caption_has_what_a_paper_must_say(teams: Comparison) -> None:
    assert caption(teams, ASKED, differences=True) == (
        "Success, completion and steps by topology across n: mean difference from individual, over 8 boards with 1 draw"
        " each (96 runs). Language model: simulated. Simulated language model: its results say nothing about a real"
        " model. Bars: 95 % intervals over boards, of the sign-flip test on paired differences, not corrected for their"
        " number. Filled marks: p is at most 0.05 after Holm's correction over the differences of a metric. Higher is"
        " better in success and completion; lower is better in steps."
    )


def test_a_caption_counts_draws_and_runs_left_out(tmp_path: Path) -> None:
    cells = []
    for team in ("a", "b"):
        for seed in range(3):
            for draw in range(1 + seed):
                name = f"{team}-{seed}-{draw}"
                changes = {"topology__name": team, "seed": seed, "draw": draw}
                meta = {"outcome": "error"} if name == "a-2-2" else None
                digest = write_run(tmp_path, outcome(steps=10 + draw), name=name, meta=meta, **changes)
                cells.append((name, digest, None))
    write_plan(tmp_path, cells)
    found = compare([read_results(tmp_path)], Question(by=["topology"], metrics=["steps"]))
    text = caption(found, ["outcome.steps"], differences=False)
    assert "over 3 boards with 1 to 3 draws each (11 runs, 1 more left out)." in text
    assert "No language model." in text
    assert not math.isnan(found.estimates["outcome.steps", "a", None].value)
