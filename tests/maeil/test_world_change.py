"""A world that is changed from outside: when, in which order, and that its trace gives the frames back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from maeil.errors import ChangeRefused, ReplayMismatch
from maeil.trace import Instant, Prefix, Trace, read_trace, replay
from maeil.trace.events import ThoughtStart
from maeil.world import Changeable
from quorum.what_if.extensions.change import Change, ChangeAt, WorldChange, change_world
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, play, walk


class Movable(Corridor):
    """A walker that is put elsewhere stumbles."""

    def change(self, changes: Mapping[str, Any]) -> None:
        for name, cell in changes.items():
            if not 0 <= cell <= self.length:
                raise ValueError(f"{name}: {cell} is outside the corridor")
        for name, cell in changes.items():
            agent = self.agents.index(name)
            self.cells[agent] = cell
            if self.controllers:
                walker = self.controllers[agent]
                walker.fails_at = walker.ticks


def minds() -> list[Scripted]:
    return [Scripted(walk(9), walk(1)), Scripted(walk(9), walk(1))]


def test_a_change_comes_before_all_thoughts_of_its_step_and_its_actions_end_at_once() -> None:
    events = play(minds(), Movable(2, length=9), extensions=[Change(ChangeAt(2, {"agent_1": 7}))])
    at = next(s.seq for s in events if isinstance(s.event, WorldChange))
    # The score of the step before comes first, that of the new state after the change.
    assert [s.event.kind for s in events[at - 1 : at + 6]] == [
        "score", "world_change", "score", "action", "plan", "stage", "thought_start",
    ]  # fmt: skip
    assert {s.t for s in events[at - 1 : at + 6]} == {2}
    assert [s for s in events[:at] if isinstance(s.event, ThoughtStart) and s.t == 2] == []
    assert [s.t for s in events if isinstance(s.event, WorldChange)] == [2]


def test_a_change_and_its_replay_give_the_same_frames(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    for t in (0, 2, 8):
        world = Movable(2, length=9)
        play(minds(), world, extensions=[Change(ChangeAt(t, {"agent_1": 1}))], path=path)
        again = Movable(2, length=9)
        frames = [list(again.cells) for _ in replay(read_trace(path), again)]
        assert frames[t] == [t, 1]
        assert frames[-1] == world.cells
        assert len(frames) == world.t + 1
        path.unlink()


def test_a_world_that_cannot_be_changed_says_so() -> None:
    assert not isinstance(Corridor(), Changeable)
    with pytest.raises(ChangeRefused, match="the world 'hallway' cannot be changed from outside"):
        change_world(Corridor(), {})


def test_what_the_world_refuses_is_refused_in_the_loop_and_in_the_replay(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with pytest.raises(ChangeRefused, match="agent_1: 99 is outside the corridor"):
        play(minds(), Movable(2, length=9), extensions=[Change(ChangeAt(2, {"agent_1": 99}))])
    play(minds(), Movable(2, length=9), extensions=[Change(ChangeAt(2, {"agent_1": 7}))], path=path)
    path.write_bytes(path.read_bytes().replace(b'{"agent_1":7}', b'{"agent_1":77}'))
    with pytest.raises(ReplayMismatch, match="step 2: the world now refuses a recorded change: agent_1: 77"):
        list(replay(read_trace(path), Movable(2, length=9)))


@pytest.mark.parametrize("t", range(9))
def test_a_beginning_that_a_change_ends_is_left_with_the_change(t: int) -> None:
    before = play(minds(), Movable(2, length=9))
    prefix = Prefix(Trace(tuple(before)), Instant(t), changed=True)
    live = []

    def listen(stamped: Any) -> None:
        prefix(stamped)
        live.append(prefix.live)

    events = play(minds(), Movable(2, length=9), extensions=[Change(ChangeAt(t, {"agent_1": 1}))], listener=listen)
    at = next(s.seq for s in events if isinstance(s.event, WorldChange))
    assert live == [seq >= at for seq in range(len(events))]
    if all(s.t != t for s in before if isinstance(s.event, ThoughtStart)):
        later = Prefix(Trace(tuple(before[: at + 1])), Instant(t), changed=True)
        assert later.digest == prefix.digest
