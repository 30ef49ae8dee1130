"""The examples of a third student and its control: an episode of each board, without what was malformed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import best_of
import pytest

import quorum
from quorum.train.policy import Completion, PolicyRequest
from tests.train import policies

TEAM = ("env=cube", "n=1", "agents=naive", "prompts=terse", "max_steps=40", "topology=individual")
MALFORMED = "no plan"


async def uneven(request: PolicyRequest) -> Completion:
    """Play like the rules, but do nothing in draw 0 of board 0; begin draw 1 with a malformed answer."""
    if (request.board, request.draw) == (0, 0):
        return Completion(policies.smallest(request))
    repaired = any(message["content"] == MALFORMED for message in request.messages)
    if (request.board, request.draw, request.step, repaired) == (0, 1, 0, False):
        return Completion(MALFORMED)
    return await policies.rules(request)


def test_the_answers_are_those_of_the_best_episode_and_boards_without_a_better_one_are_left_out() -> None:
    kept: Counter[str] = Counter()
    played = list(quorum.rollouts(*TEAM, policy=uneven, boards=range(2), group=2))
    ((best, drawn),) = best_of.chosen(played, kept)
    assert (best.board, best.draw) == (0, 1)
    assert drawn in played[:2]
    assert kept == {"boards": 2, "ties": 1}
    found = list(best_of.examples(best))
    calls = best.seats["agent_0"].calls
    assert calls[0].text == MALFORMED
    assert [example["completion"][0]["content"] for example in found] == [call.text for call in calls[1:]]
    assert [example["prompt"] for example in found] == [call.request.messages for call in calls[1:]]
    assert {example["reward"] for example in found} == {best.seats["agent_0"].reward.team}


def test_the_control_has_a_random_episode_of_the_same_boards() -> None:
    def episodes(board: int) -> Iterator[SimpleNamespace]:
        for draw in range(4):
            seat = SimpleNamespace(reward=SimpleNamespace(team=-draw))
            yield SimpleNamespace(board=board, draw=draw, seats={"agent_0": seat})

    played = [episode for board in range(400) for episode in episodes(board)]
    pairs = list(best_of.chosen(played, Counter()))
    assert {best.draw for best, _ in pairs} == {0}
    assert all(best.board == drawn.board for best, drawn in pairs)
    counts = Counter(drawn.draw for _, drawn in pairs)
    assert all(70 < counts[draw] < 130 for draw in range(4))  # 100 expected, standard deviation 8.7
    assert [drawn.draw for _, drawn in best_of.chosen(played, Counter())] == [drawn.draw for _, drawn in pairs]


def test_a_server_that_is_not_there_is_one_message_and_the_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "third.jsonl"
    out.write_text("before")
    words = ("best_of.py", "http://127.0.0.1:9/v1", "--out", str(tmp_path), "--boards", "1", "--draws", "1")
    monkeypatch.setattr("sys.argv", list(words))
    with pytest.raises(SystemExit) as end:
        best_of.main()
    assert end.value.code == 2
    assert "127.0.0.1:9" in capsys.readouterr().err
    assert out.read_text() == "before"
