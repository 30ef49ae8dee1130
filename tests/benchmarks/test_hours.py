"""The hours of new users: what counts as a concept, and as a sign of life."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from benchmarks.hours import CONCEPTS, HOURS, Typed, concepts, table, type_in

NAMES = list(yaml.safe_load(HOURS.read_text("utf-8")))


def test_verbs_options_keys_and_named_values_are_concepts_and_own_names_are_none() -> None:
    line = "quorum sweep agents=naive topology=pairs,debate --n 2,4 --seeds 0-9 --plugin pairs 'llm.prices={input: 0}'"
    known = ["sweep", "agents", "naive", "topology", "debate", "--n", "--seeds", "--plugin", "llm.prices"]
    assert concepts(line, ["pairs"]) == known
    assert concepts("quorum show prompt --n 2 agent=1", []) == ["show prompt", "--n", "agent"]
    assert concepts("quorum compare FOLDER --baseline individual", []) == ["compare", "--baseline", "individual"]
    assert concepts("mkdir -p house", []) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_hour_needs_few_concepts_up_to_its_figure(name: str) -> None:
    hour = yaml.safe_load(HOURS.read_text("utf-8"))[name]
    assert hour["figure"] in hour["lines"]
    _, at_figure = table(name, [Typed(line, 0, 1.0, 0.0, "", "") for line in hour["lines"]])
    assert 0 < at_figure <= CONCEPTS


def test_the_longest_time_without_a_sign_is_measured_with_what_the_terminal_showed_before(tmp_path: Path) -> None:
    typed = type_in("printf begin; sleep 0.6; printf end; exit 3", tmp_path, os.environ)
    assert (typed.code, typed.shown, typed.after) == (3, "beginend", "begin")
    # The watch starts when the first words have arrived, a little after they were written.
    assert 0.5 <= typed.silence <= typed.seconds


def test_a_line_that_is_drawn_again_as_it_was_is_no_sign(tmp_path: Path) -> None:
    again = type_in(r"for i in 1 2 3; do printf '\rwaits'; sleep 0.5; done", tmp_path, os.environ)
    moving = type_in(r"for i in 1 2 3; do printf '\rwaits '$i; sleep 0.5; done", tmp_path, os.environ)
    assert again.silence >= 1.0
    assert moving.silence < again.silence
