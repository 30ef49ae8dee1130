from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import read_trace
from maeil.trace.events import MessageSent, ScoreChange
from quorum.runs.recorded_episode import open_episode
from quorum.view.replay.replay import drawable, frames, prepare_replay
from quorum_base.user_errors import UserError
from tests.view.replay.conftest import CELLS, edit_trace

HOSTILE = "\x1b[31mred\x07 <script>alert(1)</script> \u202eevil\u202c\u200b\nnext" + "x" * 1_000_000


def _all(folder: Path, first: int = 0, last: int | None = None):
    run = open_episode(folder)
    _, draw = drawable(run)
    return list(frames(run, draw, first, run.steps if last is None else last))


@pytest.mark.parametrize("name", CELLS)
def test_the_frames_are_what_the_environment_drew_while_it_was_played(played, name) -> None:
    run = played(name)
    found = _all(run.folder)
    assert [frame.picture for frame in found] == run.drawings
    assert [frame.t for frame in found] == list(range(len(run.drawings)))
    assert drawable(open_episode(run.folder))[0] == run.canvas


def test_a_part_of_an_episode_is_that_part_of_all_of_it(played) -> None:
    folder = played("debate").folder
    assert _all(folder, 3, 7) == _all(folder)[3:8]


def test_a_frame_has_the_score_of_its_instant(played) -> None:
    folder = played("transport").folder
    recorded = {0: 0}
    for stamped in read_trace(folder).stamped(ScoreChange):
        recorded[stamped.t] = stamped.event.reached
    found = {frame.t: frame.progress.reached for frame in _all(folder)}
    assert max(found.values()) > 0
    assert all(found[t] == reached for t, reached in recorded.items())


def test_a_frame_has_the_last_message_so_far(played) -> None:
    folder = played("debate").folder
    sent = read_trace(folder).stamped(MessageSent)
    for frame in _all(folder):
        last = [stamped for stamped in sent if stamped.t <= frame.t][-1]
        assert frame.said.startswith(f"step {last.t}, agent_{last.event.sender} to all: {last.event.content[:20]}")
        assert frame.messages == sum(stamped.t == frame.t for stamped in sent)


def test_only_the_last_frame_tells_the_end(played) -> None:
    found = _all(played("transport").folder)
    assert found[-1].end == "end: success"
    assert {frame.end for frame in found[:-1]} == {""}


def test_hostile_words_become_a_line_of_text(copied) -> None:
    folder = copied("debate")
    edit_trace(folder, lambda event: event | {"content": HOSTILE} if event["event"] == "message_sent" else event)
    for frame in _all(folder):
        assert frame.said.isprintable()
        assert "<script>alert(1)</script>" in frame.said
        assert len(frame.said) < 300


def test_hostile_names_become_text(copied) -> None:
    folder = copied("debate")
    names = ["\u202eagent\x1b[0m" + "y" * 100_000, "b", "c", "d"]
    edit_trace(folder, lambda event: event | {"agents": names} if event["event"] == "episode_start" else event)
    shown = prepare_replay([open_episode(folder)], 0, None)
    assert all(label.isprintable() for label in shown.labels)
    assert all(frame.said.isprintable() and len(frame.said) < 500 for frame in _all(folder))


def test_a_trace_that_breaks_off_is_shown_as_far_as_it_goes(copied) -> None:
    folder = copied("debate")
    whole = _all(folder)
    file = folder / "trace.jsonl"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    part = _all(folder)
    assert 0 < len(part) < len(whole)
    assert [frame.picture for frame in part] == [frame.picture for frame in whole[: len(part)]]
    assert part[-1].end == "the trace breaks off here"
    assert "breaks off" in open_episode(folder).remark


def test_a_trace_may_break_off_just_after_a_step_or_before_its_outcomes(copied) -> None:
    folder = copied("transport")
    whole = _all(folder)
    file = folder / "trace.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    steps = [number for number, line in enumerate(lines) if b'"event":"step"' in line]
    for end in (1, *(number + more for number in steps for more in (1, 2))):
        file.write_bytes(b"".join(lines[:end]))
        part = _all(folder)
        assert [frame.picture for frame in part] == [frame.picture for frame in whole[: len(part)]]
        assert len(part) == 1 + sum(b'"event":"step"' in line for line in lines[:end])


def test_a_trace_of_another_episode_is_refused(copied) -> None:
    folder = copied("transport")
    edit_trace(folder, lambda event: event | {"reward": event["reward"] + 1} if event["event"] == "step" else event)
    with pytest.raises(UserError, match=r"transport: the episode cannot be restored: step 0: reward was"):
        _all(folder)


@pytest.mark.parametrize("joint", [[], [99, 99, 99, 99], ["up", 0, 0, 0]])
def test_a_step_that_cannot_be_taken_is_named_as_damage(copied, joint) -> None:
    folder = copied("debate")
    edit_trace(folder, lambda event: event | {"joint": joint} if event["event"] == "step" else event)
    with pytest.raises(UserError, match=r"damaged|cannot be restored"):
        _all(folder)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("episode_start", "agents", 5),
        ("episode_start", "board", []),
        ("episode_start", "seed", "0"),
        ("step", "joint", None),
        ("step", "t", "soon"),
        ("message_sent", "content", {}),
        ("message_sent", "recipients", [None]),
        ("thought_end", "calls", [5]),
        ("episode_end", "reason", 5),
    ],
)
def test_a_value_of_another_type_is_named_as_damage(copied, kind, field, value) -> None:
    folder = copied("debate")
    edit_trace(folder, lambda event: event | {field: value} if event["event"] == kind else event)
    with pytest.raises(UserError, match=rf"damaged: line \d+: not an event .* at `\$\.{field}"):
        open_episode(folder)


def test_a_message_to_nobody_that_there_is_can_be_shown(copied) -> None:
    folder = copied("debate")
    odd = {"sender": -7, "recipients": [99]}
    edit_trace(folder, lambda event: event | odd if event["event"] == "message_sent" else event)
    assert " participant -7 to participant 99: " in _all(folder)[-1].said


def test_a_newer_trace_is_refused(copied) -> None:
    folder = copied("transport")
    edit_trace(folder, lambda event: event | {"schema": 99} if event["event"] == "episode_start" else event)
    with pytest.raises(UserError, match="99"):
        open_episode(folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "damaged"),
        (b"- 1\n", "contains no configuration"),
        (b"env: {name: cube, 3: 4}\n", "damaged"),
        (b"env: {name: nowhere}\n", "its world cannot be built"),
        (b"env: !!python/object/apply:os.system [exit]\n", "damaged"),
        (b"n: 4\n", "its world cannot be built"),
    ],
)
def test_a_configuration_that_builds_no_world_is_refused(copied, content, said) -> None:
    folder = copied("transport")
    (folder / "meta.json").unlink()
    (folder / "config.yaml").write_bytes(content)
    with pytest.raises(UserError, match=said):
        _all(folder)


def test_a_configuration_of_another_board_is_noticed(copied) -> None:
    folder = copied("transport")
    edit_trace(folder, lambda event: event | {"seed": 5} if event["event"] == "episode_start" else event)
    with pytest.raises(UserError, match="board was"):
        _all(folder)
