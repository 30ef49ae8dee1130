"""Samples from one instant differ by fresh randomness from there on, and by nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from maeil.seeds import Seeds
from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.expected import expectation
from quorum.episode.runner import Result, run_cell
from quorum.runs.verify import verify_run
from quorum.what_if.branch.branch_draws import DrawnSeeds, sample_number
from tests.branching import plan_branch, plan_draws
from tests.conftest import Quorum
from tests.serving import served
from tests.what_if.branch.test_identity import Counting, assert_same, calls_of

AT = 2


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = "env=squeeze n=3 max_steps=5 agents=naive topology=debate llm.poor=0.5"
    return run_cell(Cell.compose(words.split()), tmp_path_factory.mktemp("runs")).folder


def drawn(run: Path, at: str, draws: int, out: Path) -> Sequence[Result]:
    planned = plan_draws(run, at, draws)
    return [run_cell(one.cell, out, start=one.start) for one in planned]


def parts(folder: Path) -> tuple[list[bytes], list[bytes]]:
    """Return the lines of a trace, without the first, before the instant and from it on."""
    first = next(s.seq for s in read_trace(folder).events if isinstance(s.event, ThoughtStart) and s.t >= AT)
    lines = comparable(folder)
    return lines[1:first], lines[first:]


def test_draws_have_the_beginning_in_common_and_go_on_each_in_its_own_way(run: Path, tmp_path: Path) -> None:
    results = drawn(run, str(AT), 4, tmp_path)
    assert_same(results[0].folder, run)
    starts, went_on = zip(*(parts(result.folder) for result in results), strict=True)
    assert len({tuple(lines) for lines in starts}) == 1
    assert len({tuple(lines) for lines in went_on}) == 4
    assert verify_run(results[3].folder).problems == []
    assert read_trace(results[3].folder).start.board == read_trace(run).start.board


def test_a_draw_comes_out_the_same_each_time(run: Path, tmp_path: Path) -> None:
    first, second = (drawn(run, str(AT), 3, tmp_path)[2].folder for _ in range(2))
    assert comparable(first) == comparable(second)


def test_a_draw_names_its_cell_and_not_its_change(run: Path) -> None:
    cells = [planned.cell for planned in plan_draws(run, "2", 3, minds=["agent_0=heuristic"])]
    assert [cell.origin.draw for cell in cells if cell.origin is not None] == [0, 1, 2]
    assert len({cell.hash for cell in cells}) == 3
    assert len({cell.origin.change for cell in cells if cell.origin is not None}) == 1
    assert cells[0].hash == plan_branch(run, "2", minds=["agent_0=heuristic"]).cell.hash


def test_the_streams_of_minds_that_draw_begin_again_in_the_middle_of_the_episode(tmp_path: Path) -> None:
    words = "n=6 seed=3 agents=negotiator agents.noise=0.5 topology=debate max_steps=60"
    run = run_cell(Cell.compose(words.split()), tmp_path / "runs").folder
    results = drawn(run, str(AT), 3, tmp_path)
    assert_same(results[0].folder, run)
    starts, went_on = zip(*(parts(result.folder) for result in results), strict=True)
    assert len({tuple(lines) for lines in starts}) == 1
    assert len({tuple(lines) for lines in went_on}) == 3


def test_a_place_gives_the_usual_stream_until_it_is_drawn_again_and_then_another_for_each_draw() -> None:
    usual = Seeds(7, "minds").child(1)

    def numbers(draw: int) -> tuple[int, ...]:
        seeds = DrawnSeeds(7, "minds")
        generator = seeds.child(1).generator()
        assert generator.integers(10**9) == usual.generator().integers(10**9)
        if draw:
            seeds.streams.redraw(draw)
        assert (seeds.child(1).integer() == usual.integer()) == (not draw)
        later = seeds.child(1).generator()
        return int(generator.integers(10**9)), int(later.integers(10**9))

    first, again = numbers(1), numbers(1)
    assert first == again
    assert first[0] == first[1]  # both begin there
    assert len({numbers(draw)[0] for draw in range(4)}) == 4


def test_chains_of_draws_have_their_own_numbers() -> None:
    assert [sample_number(draws) for draws in ([], [0], [0, 0], [2], [2, 0])] == [0, 0, 0, 2, 2]
    chains = [[1, 1], [1, 2], [2, 1], [11, 1], [1, 11]]
    assert len({sample_number(chain) for chain in chains}) == len(chains)


def test_no_answer_of_another_draw_comes_from_the_cache_and_the_beginning_sends_nothing(tmp_path: Path) -> None:
    brain = Counting()
    with served(brain) as addresses:
        model = ["llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null"]
        kept = ["llm.cache=true", f"llm.cache_path={tmp_path / 'cache'}", "llm.sampling_seed=5"]
        words = ["env=squeeze", "n=3", "max_steps=4", "agents=naive", "topology=debate"]
        run = run_cell(Cell.compose([*words, *model, *kept]), tmp_path / "runs").folder
        counts = []
        for _ in range(2):
            for planned in plan_draws(run, str(AT), 3):
                brain.requests = 0
                branch = run_cell(planned.cell, tmp_path / "branches", start=planned.start).folder
                counts.append(brain.requests)
    live = len([s for s in read_trace(branch).events if isinstance(s.event, ThoughtStart) and s.t >= AT])
    assert counts == [0, live, live, 0, 0, 0]
    seeds = {(call["t"] >= AT, call["request"]["sampling"]["seed"]) for call in calls_of(branch)}
    assert (False, 5) in seeds
    assert len(seeds) == 2
    assert (True, 5) not in seeds


def test_more_than_one_draw_is_a_sweep_with_a_control(run: Path, quorum: Quorum) -> None:
    words = ("branch", str(run), "--at", "4", "llm.poor=0.9", "--dry-run", "--json")
    assert [json.loads(quorum(*words, "--draws", draws).stdout)["cells"] for draws in ("1", "2")] == [1, 4]
    assert json.loads(quorum(*words, "--draws", "2", "--no-control").stdout)["cells"] == 2
    assert quorum(*words, "--draws", "0").returncode == 2


def test_words_about_the_engine_are_no_edit_of_a_branch(run: Path, quorum: Quorum) -> None:
    words = ("branch", str(run), "--at", "4", "engine.workers=1", "--draws", "2", "--dry-run", "--json")
    for control in ("--control", "--no-control"):
        done = quorum(*words, control)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["cells"] == 2


def test_what_is_left_after_the_instant_is_reported_before_a_real_model_is_asked(run: Path, tmp_path: Path) -> None:
    live = len([s for s in read_trace(run).events if isinstance(s.event, ThoughtStart) and s.t >= 4])
    planned = plan_branch(run, "4", edits=["llm=openai", "llm.model=gpt-5-mini"])
    reported = expectation(planned.cell, planned.rest())
    found = re.match(r"expected: about (\d+) answers, ([\d,]+) tokens, \$[\d.e-]+, [\d:]+ ", reported)
    assert found, reported
    assert planned.rest().thoughts == live
    assert int(found[1]) == live
    assert "from what the rest of its run used with the simulated model, at 3 s an answer" in reported
    assert not planned.start.prefix.live


def test_a_branch_that_fails_makes_the_command_fail(run: Path, tmp_path: Path, quorum: Quorum, hanging_up: str) -> None:
    nowhere = ["llm=openai", "llm.model=m", f"llm.base_url={hanging_up}", "llm.api_key_env=null", "llm.tries=1"]
    done = quorum("branch", str(run), "--at", "4", *nowhere, "--json", "--out", str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["outcome"] == "error"
