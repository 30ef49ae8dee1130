"""Every published figure that ships names existing experiments, metrics and levels."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from maeil.metrics import METRICS
from quorum.study.reproduce.figure_file import Claim, figure_names, load_figure
from quorum.sweeps.experiment_file import load
from quorum_base.user_errors import UserError
from tests.conftest import ROOT
from tests.test_cli_help import PARTS

NAMES = {
    "cube-tasks", "emcoop-rq1", "emcoop-rq2", "emcoop-rq3", "llamac-table2", "llamac-fig5",
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
        published = experiment.published
        assert part.claims or published
        metrics = {*part.shares, *(claim.metric for claim in part.claims), *(published.metrics if published else ())}
        assert metrics <= METRICS.keys()
        assert part.across in levels
        for claim in part.claims:
            named = {level for pair in claim.pairs for level in (pair[0], pair[2])}
            assert named <= {*levels[claim.by or part.by]}, claim.says
            assert {str(value) for value in claim.at} <= {*levels[part.across]}


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
    with pytest.raises(ValidationError, match="LEVEL > LEVEL"):
        Claim(says="a", metric="outcome.steps", order=["a >= b"])


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    with pytest.raises(UserError, match="there is no such figure") as error:
        load_figure("llamac-table3")
    assert "llamac-table2" in error.value.hint
