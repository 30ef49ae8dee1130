"""What prompts of grid transportation and of the squeeze tell: the rules that hold, and each fact of the state once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from llamac_env import read_rounds, read_shown
from quorum.agents.naive import render_prompt
from quorum.agents.prompting.blocks import write_json
from tests.agents.naive_team import config, context, topology, view
from tests.llamac_env.test_squeeze import world as squeeze
from tests.llamac_env.test_transport_world import world as transport

DIFFICULTIES = {"easy": "final_state", "hard": "start_empty"}


def rules(world: Any, prompt_set: str = "default") -> str:
    return render_prompt(config(prompt_set), context(world, topology("individual", 4)), view(world))[0].content


@pytest.mark.parametrize("prompt_set", ["default", "terse"])
def test_rules_of_another_difficulty_are_not_stated(prompt_set: str) -> None:
    easy, hard = (rules(transport(difficulty=difficulty), prompt_set) for difficulty in DIFFICULTIES)
    assert not any(word in easy for word in ("corner", "lose", "both fail", "entry_rule"))
    assert all(word in hard for word in ("corner", "lose", "both fail"))
    assert "neighbour" not in hard
    assert "above, below" not in hard


def test_the_entry_rule_and_what_agents_see_are_told_as_they_are() -> None:
    entered, empty = (rules(transport(difficulty="hard", entry_rule=rule)) for rule in ("final_state", "start_empty"))
    assert "may enter a corner that another box leaves" in entered
    assert "may not enter a corner that another box leaves" in empty
    assert "do not see the board" in rules(transport())
    assert "do not see the board" not in rules(transport(view="board"))


def test_the_picks_of_others_are_explained_where_somebody_sees_them() -> None:
    assert '"picks"' in rules(squeeze(n=4, picks="coordinator"))
    assert '"picks"' not in rules(squeeze(n=4, picks="nobody"))


@pytest.mark.parametrize("sight", ["local", "board"])
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_what_is_shown_of_a_board_reads_back_and_stands_there_once(difficulty: str, sight: str) -> None:
    for seed in range(5):
        w = transport(n=8, seed=seed, difficulty=difficulty, entry_rule=DIFFICULTIES[difficulty], view=sight)
        for seen in (*map(w.observe, range(8)), w.global_observation()):
            given = orjson.loads(write_json(seen))
            board = {key: items for key, items in seen.board.items() if items} if seen.board is not None else None
            assert read_shown(given) == replace(seen, board=board, boxes_placed=None)
            assert not ({"sees", "corners"} & set(given) and "board" in given)
            assert not {"agent", "difficulty", "rows", "cols"} & set(given)


@pytest.mark.parametrize("picks", ["coordinator", "all", "nobody"])
def test_what_is_shown_of_rounds_reads_back_and_names_each_column_once(picks: str) -> None:
    w = squeeze(n=3, picks=picks)
    for joint in ([1, 4, 9], [2, 2, 2], [0, 9, 0]):
        w.step(joint)
    for seen in (w.observe(1), w.global_observation()):
        text = write_json(seen)
        again = read_rounds(orjson.loads(text), seen.agent)
        rounded = [replace(past, reward=float(f"{past.reward:.6g}")) for past in seen.history]
        assert again == replace(seen, history=tuple(rounded))
        assert text.count('"reward"') == 1
        assert '"mean"' not in text


def test_what_all_know_of_the_rounds_stands_before_what_is_an_agents_own() -> None:
    w = squeeze(n=3, picks="all")
    w.step([1, 4, 9])
    w.step([2, 3, 4])
    one, other = (write_json(w.observe(agent)) for agent in (0, 1))
    shared, _, own = one.partition('"your_pick":')
    assert other.startswith(shared)
    assert own.startswith("[1,2]")
    assert '"picks":[[1,4,9],[2,3,4]]' in shared


def test_what_is_no_observation_is_refused_in_words() -> None:
    for broken in ({}, {"agents": 2, "rounds": 3, "history": {"reward": [1.0], "your_pick": []}}):
        with pytest.raises(ValueError, match="not an observation of the squeeze"):
            read_rounds(broken)
