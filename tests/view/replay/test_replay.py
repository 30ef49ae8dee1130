from __future__ import annotations

import json

import pytest
import yaml

from quorum.runs.recorded_episode import open_episode
from quorum.view.replay.replay import drawable, prepare_replay
from quorum_base.user_errors import UserError
from tests.view.replay.conftest import edit_configuration, edit_trace


def _pair(played):
    return [open_episode(played(name).folder) for name in ("debate", "centralized")]


def test_two_runs_of_a_board_are_in_step_and_the_shorter_one_holds_its_end(played) -> None:
    runs = _pair(played)
    assert runs[1].steps < runs[0].steps
    shown = prepare_replay(runs, 0, None)
    pairs = list(shown.frames(drawable(runs[0])[1]))
    assert len(pairs) == len(shown) == runs[0].steps + 1
    assert pairs[0][0].picture == pairs[0][1].picture
    for t, (left, right) in enumerate(pairs):
        assert (left.t, right.t) == (t, min(t, runs[1].steps))
    assert pairs[-1][1].picture == played("centralized").drawings[-1]
    assert pairs[-1][1].end


def test_a_run_that_ends_before_the_first_step_shown_holds_its_end_too(played) -> None:
    runs = _pair(played)
    pairs = list(prepare_replay(runs, runs[1].steps + 2, None).frames(drawable(runs[0])[1]))
    assert {right.t for _, right in pairs} == {runs[1].steps}
    assert [left.t for left, _ in pairs] == list(range(runs[1].steps + 2, runs[0].steps + 1))


def test_a_label_tells_what_parts_the_runs(played) -> None:
    assert prepare_replay(_pair(played), 0, None).labels == [
        "cube · 4 agents · debate · naive · seed 1",
        "cube · 4 agents · centralized · naive · seed 1",
    ]


def test_runs_that_would_have_one_label_tell_the_key_that_differs(played, copied) -> None:
    other = copied("debate")
    edit_configuration(other, lambda values: values["llm"].update(poor=0.5))
    labels = prepare_replay([open_episode(played("debate").folder), open_episode(other)], 0, None).labels
    assert labels[1].endswith(" · llm.poor=0.5")
    assert labels[0] != labels[1]


def test_an_arm_of_a_sweep_is_in_the_label(copied) -> None:
    folder = copied("debate")
    meta = json.loads((folder / "meta.json").read_text())
    cell = {"name": folder.name, "hash": meta["hash"], "arm": "talking"}
    (folder.parent / "sweep.json").write_text(yaml.dump({"schema": 1, "name": "s", "cells": [cell]}))
    assert prepare_replay([open_episode(folder)], 0, None).labels[0].startswith("cube · 4")
    (folder.parent / "sweep.json").write_bytes(
        f'{{"schema": 1, "name": "s", "cells": [{{"name": "x", "hash": "{cell["hash"]}", "arm": "talking"}}]}}'.encode()
    )
    assert prepare_replay([open_episode(folder)], 0, None).labels[0].startswith("arm talking · cube")


def test_different_boards_are_refused_by_what_differs(played, copied) -> None:
    other = copied("debate")
    edit_configuration(other, lambda values: values.update(seed=2))
    edit_trace(other, lambda event: event | {"seed": 2} if event["event"] == "episode_start" else event)
    with pytest.raises(UserError, match="not play the same board; differences: seed 1 and 2\n"):
        prepare_replay([open_episode(played("debate").folder), open_episode(other)], 0, None)


def test_different_worlds_are_refused(played) -> None:
    runs = [open_episode(played(name).folder) for name in ("debate", "transport")]
    with pytest.raises(UserError, match=r"not play the same board.*env\.name cube and transport\n"):
        prepare_replay(runs, 0, None)


def test_steps_that_are_not_there_are_refused(played) -> None:
    run = open_episode(played("debate").folder)
    with pytest.raises(UserError, match=f"--from 99: .* ends with step {run.steps}"):
        prepare_replay([run], 99, None)
    with pytest.raises(UserError, match="--to 2: it is before --from 5"):
        prepare_replay([run], 5, 2)
    assert len(prepare_replay([run], 5, 999)) == run.steps - 4
