"""A trace that is kept packed is the trace that it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from maeil.metrics import compute_metrics
from maeil.trace import Trace, read_trace, reader
from maeil.trace.events import EVENTS, MessagesRead, PlanChange, StepTaken
from maeil.trace.packed import PackedEvents
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_cell(
        Cell.compose(["n=4", "seed=1", "agents=naive", "topology=debate"]), tmp_path_factory.mktemp("runs")
    ).folder


@pytest.fixture(scope="module")
def kept(folder: Path) -> Trace:
    return read_trace(folder)


@pytest.fixture(params=[100, 20_000], ids=["from the beginning", "from the middle"])
def packed(folder: Path, request: pytest.FixtureRequest) -> Iterator[Trace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "LARGE", request.param)
        patch.setattr("maeil.trace.packed._BLOCK", 4_000)
        yield read_trace(folder)


def test_its_events_are_the_same_in_the_same_order(kept: Trace, packed: Trace) -> None:
    assert isinstance(packed.events, PackedEvents)
    assert not isinstance(kept.events, PackedEvents)
    assert len(packed.events) == len(kept.events)
    assert tuple(packed.events) == kept.events
    assert (packed.start, packed.end, packed.torn, packed.whole) == (kept.start, kept.end, kept.torn, kept.whole)


@pytest.mark.parametrize("kind", EVENTS.values(), ids=lambda kind: kind.kind)
def test_so_are_those_of_each_kind(kept: Trace, packed: Trace, kind: type) -> None:
    assert tuple(packed.stamped(kind)) == tuple(kept.stamped(kind))
    assert len(packed.stamped(kind)) == len(kept.stamped(kind))


def test_a_place_is_found_from_both_ends(kept: Trace, packed: Trace) -> None:
    for place in (0, 1, 7, -1, -2):
        assert packed.events[place] == kept.events[place]
        assert packed.stamped(PlanChange)[place] == kept.stamped(PlanChange)[place]
    assert packed.events[2:9:3] == kept.events[2:9:3]
    assert packed.stamped(PlanChange)[1:4] == tuple(kept.stamped(PlanChange)[1:4])
    for events in (packed.events, packed.stamped(PlanChange)):
        with pytest.raises(IndexError):
            events[len(events)]


def test_several_kinds_come_in_the_order_of_the_trace(kept: Trace, packed: Trace) -> None:
    kinds = (PlanChange, StepTaken, MessagesRead)
    wanted = tuple(stamped for stamped in kept.events if isinstance(stamped.event, kinds))
    assert tuple(packed.among(*kinds)) == tuple(kept.among(*kinds)) == wanted
    assert all(one.seq < other.seq for one, other in pairwise(wanted))


def test_its_metrics_are_the_same(kept: Trace, packed: Trace) -> None:
    assert compute_metrics(packed) == compute_metrics(kept)
