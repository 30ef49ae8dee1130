"""Every published figure that ships names existing experiments, metrics and levels."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from maeil.metrics import METRICS
from quorum.study.reproduce.figure_file import Claim, figure_names, load_figure
from quorum.study.reproduce.floors import FloorPlanner, judged_arms
from quorum.sweeps.experiment_file import load
from quorum_base.user_errors import UserError
from tests.conftest import ROOT
from tests.test_cli_help import PARTS

NAMES = {
    "cube-tasks", "emcoop-rq1", "emcoop-rq2", "emcoop-rq3", "llamac-table2", "llamac-fig5", "llamac-fig7",
    "llamac-ablations",
}  # fmt: skip


def test_the_figures_are_those_of_the_help_and_the_guide() -> None:
    assert {*figure_names()} == NAMES
    pattern = re.compile(r"\b(?:cube|emcoop|llamac)-[a-z0-9]+\b")
    assert {*pattern.findall(PARTS["reproduce name"].help or "")} == NAMES
    guide = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    assert {name for name in NAMES if f"| `{name}` |" in guide} == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_its_experiments_have_the_levels_and_metrics_of_its_claims(name: str) -> None:
    figure = load_figure(name)
    for part in figure.parts:
        experiment = load(part.experiment)
        grid = (word.partition("=") for word in experiment.grid)
        levels = {"arm": [*experiment.arms], **{key: values.split(",") for key, _, values in grid}}
        published = experiment.published if part.numbers else None
        assert part.claims or published
        numbers = {*published.metrics} if published else set()
        terms = {name for claim in part.claims for name, _ in claim.terms} | {c.per for c in part.claims if c.per}
        assert {*part.shares, *terms, *numbers} <= METRICS.keys()
        assert {*(claim.metric for claim in part.claims), *numbers} <= {*figure.margins}
        assert part.across in levels
        for claim in part.claims:
            named = {level for pair in claim.pairs for level in (pair[0], pair[2])}
            assert named <= {*levels[claim.by or part.by]}, claim.says
            assert {str(value) for value in claim.at} <= {*levels[part.across]}
            assert all(str(value) in levels[key] for key, value in claim.where.items())


@pytest.mark.parametrize("name", sorted(NAMES))
def test_its_floors_play_the_judged_arms_on_the_same_boards(name: str) -> None:
    for part in load_figure(name).parts:
        judged = judged_arms(part, load(part.experiment))
        plans = {floor: FloorPlanner(floor, part).plan(["seed=0"]) for floor in ("chance", "echo")}
        rules = {cell.arm for cell in plans["chance"].cells if not cell.uses_models}
        assert {cell.arm for cell in plans["chance"].cells} == {*judged}
        assert {cell.arm for cell in plans["echo"].cells} == {*judged} - rules
        assert rules == ({"heuristic"} if name == "cube-tasks" else set())
        for floor, option in (("chance", "random"), ("echo", "echo")):
            models = {cell.cell().configuration.llm.name for cell in plans[floor].cells if cell.uses_models}
            assert models == {option}
        drawn = [cell.cell().configuration for cell in plans["chance"].cells if cell.arm in rules]
        assert all((c.agents.name, c.topology.name) == ("random", "individual") for c in drawn)


def test_floors_of_a_trained_model_read_prompts_that_have_an_example() -> None:
    (part,) = load_figure("cube-tasks").parts
    words = ["seed=0", "n=2", "prompts=short", "llm=llamacpp", "llm.structured=prompt"]
    for floor in ("chance", "echo"):
        naive = [cell.cell().configuration for cell in FloorPlanner(floor, part).plan(words).cells if cell.uses_models]
        assert {c.prompts["turn"] for c in naive} == {"terse/turn.jinja"}


def test_figure_5_leaves_out_what_the_paper_left_out() -> None:
    claims = load_figure("llamac-fig5").parts[0].claims
    decentralised = [claim for claim in claims if any("decentralised" in pair for pair in claim.pairs)]
    assert {tuple(claim.at) for claim in decentralised} == {(3, 5, 10)}
    assert len(decentralised) == 4


def test_only_what_a_paper_states_is_published() -> None:
    controls = {
        name: [claim.control for part in load_figure(name).parts for claim in part.claims] for name in sorted(NAMES)
    }
    assert controls.pop("llamac-ablations") == [True]
    assert controls.pop("emcoop-rq2") == [False, False, False, True, True, True]  # MA-Crafter, then CUBE
    assert controls.pop("emcoop-rq3") == [False, False, True, True]  # hard boards; easy ones, CUBE
    assert not any(control for found in controls.values() for control in found)
    rq1 = load_figure("emcoop-rq1").parts[0].claims
    assert [dict(claim.where) for claim in rq1 if not claim.by] == [{"env.level": "emcoop_hard"}] * 4


def test_the_seven_ablations_change_one_part_each() -> None:
    arms = load("llamac_ablations").arms
    assert {arm: words[0] for arm, words in arms.items() if words} == {
        "no scrutiny": "agents.scrutiny=false",
        "no confirmation": "agents.confirmation=false",
        "only explore": "agents.critics=explorer",
        "only exploit": "agents.critics=exploiter",
        "no belief correction": "agents.belief_correction=false",
        "no internal feedback": "agents.internal_retries=0",
        "no external feedback": "agents.external_retries=0",
    }
    (claim,) = load_figure("llamac-ablations").parts[0].claims
    assert {other for _, _, other in claim.pairs} == {*arms} - {"LLaMAC"}


def test_a_claim_is_an_order_of_two_levels() -> None:
    claim = Claim(says="a", metric="outcome.steps", order=["only explore < LLaMAC easy", "a > b"])
    assert claim.pairs == [("only explore", -1, "LLaMAC easy"), ("a", 1, "b")]
    assert claim.terms == [("outcome.steps", 1)]
    assert claim.model_copy(update={"metric": "a.b - c.d + e.f"}).terms == [("a.b", 1), ("c.d", -1), ("e.f", 1)]
    with pytest.raises(ValidationError, match="LEVEL > LEVEL"):
        Claim(says="a", metric="outcome.steps", order=["a >= b"])


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    with pytest.raises(UserError, match="there is no such figure") as error:
        load_figure("llamac-table3")
    assert "llamac-table2" in error.value.hint


def test_a_margin_is_a_number_or_a_share_of_a_value() -> None:
    figure = load_figure("llamac-table2")
    assert figure.margin("outcome.success", 0.4) == 0.1
    assert figure.margin("outcome.steps_to_finish", -20.0) == pytest.approx(3.0)
    assert "29 % of the steps" in figure.because
