"""The world's own luck: another stream a draw, on the same board, and a trace that gives the frames back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from maeil.errors import ReplayMismatch
from maeil.extension import ExtensionConfig, ExtensionContext
from maeil.seeds import Seeds
from maeil.trace import Stamped, comparable, read_trace, replay
from maeil.trace.events import EpisodeStart, StepTaken
from maeil.world import Transition
from quorum.topologies.plain import Individual
from quorum.what_if.extensions.luck import Luck, build
from quorum.what_if.extensions.luck.events import WorldLuck
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, play, walk


class Slippery(Corridor):
    """A corridor that pays at random, from the seed of its board unless it is given another stream."""

    def reset(self, seed: int) -> dict[str, object]:
        self.draw_from(seed)
        return dict(super().reset(seed))

    def draw_from(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def step(self, joint: Sequence[int]) -> Transition:
        done = super().step(joint)
        return Transition(done.outcomes, float(self.random.random()), done.end)


def played(world: Corridor, seed: int | None, path: Path | None = None) -> list[Stamped]:
    luck = [Luck(seed)] if seed is not None else []
    return play([Scripted(walk(9)), Scripted(walk(9))], world, extensions=luck, path=path)


def rewards(events: Sequence[Stamped]) -> list[float]:
    return [s.event.reward for s in events if isinstance(s.event, StepTaken)]


def test_luck_changes_what_happens_and_not_the_board() -> None:
    found = [played(Slippery(2, length=9), seed) for seed in (None, 1, 2, 1)]
    starts = [next(s.event for s in events if isinstance(s.event, EpisodeStart)).board for events in found]
    assert starts[0] == starts[1] == starts[2]
    none, one, two, again = map(rewards, found)
    assert none != one != two != none
    assert one == again


def test_luck_comes_once_before_anybody_thinks() -> None:
    kinds = [s.event.kind for s in played(Slippery(2, length=9), 1)]
    assert kinds.count("world_luck") == 1
    assert kinds.index("world_luck") < kinds.index("thought_start")


def test_a_trace_with_luck_replays_exactly_and_without_the_event_it_does_not(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    events = played(Slippery(2, length=9), 5, path)
    assert len(list(replay(read_trace(path), Slippery(2, length=9)))) == len(rewards(events)) + 1
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line.replace('"seed":5', '"seed":6') if "world_luck" in line else line for line in lines))
    with pytest.raises(ReplayMismatch, match="reward"):
        list(replay(read_trace(path), Slippery(2, length=9)))


def test_a_world_that_draws_no_lots_is_left_alone_and_a_trace_that_says_otherwise_is_refused(tmp_path: Path) -> None:
    path, without = tmp_path / "trace.jsonl", tmp_path / "without.jsonl"
    played(Corridor(2, length=9), None, without)
    played(Corridor(2, length=9), 1, path)
    assert list(comparable(path)) == list(comparable(without))
    slippery = tmp_path / "slippery.jsonl"
    played(Slippery(2, length=9), 5, slippery)
    with pytest.raises(ReplayMismatch, match="has no luck to draw again"):
        list(replay(read_trace(slippery), Corridor(2, length=9)))


def test_the_stream_follows_from_the_seeds_of_the_extension() -> None:
    def seed(place: Seeds) -> int | None:
        world = Corridor(2)
        return build(ExtensionConfig(), ExtensionContext(world, Individual(), place))._seed

    places = [Seeds(3, "extension/luck"), Seeds(3, "draw/1/extension/luck"), Seeds(4, "extension/luck")]
    found = [seed(place) for place in places]
    assert len(set(found)) == 3
    assert all(one is not None and 0 <= one < 2**32 for one in found)
    assert WorldLuck(1).kind == "world_luck"
