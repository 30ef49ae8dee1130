"""Minds that draw their plans at random: valid in every world, by their own random streams, without a word."""

from __future__ import annotations

from collections import Counter

import pytest

from maeil.trace import Recorder, Stamped
from maeil.trace.events import MessageSent, PlanChange, ThoughtEnd
from quorum.agents.prompting.random_plans import LONGEST
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build, play
from quorum.process.event_loop import run_coroutine
from quorum_base.user_errors import UserError

WORLDS = (
    "env=cube n=3",
    "env=cube n=3 env.vocabulary=emcoop",
    "env=crafter_coop n=3",
    "env=transport n=4",
    "env=squeeze n=3",
    "env=foraging n=3 env.sight=2",
    "env=overcooked",
)


def events_of(*words: str) -> list[Stamped]:
    cell = Cell.compose(["agents=random", "max_steps=25", *words])
    events: list[Stamped] = []
    with Recorder(None, [events.append]) as recorder:
        run_coroutine(play(cell, build(cell, no_models), recorder))
    return events


def plans(events: list[Stamped]) -> list[PlanChange]:
    return [one.event for one in events if isinstance(one.event, PlanChange) and one.event.status == "committed"]


@pytest.mark.parametrize("words", WORLDS)
def test_plans_are_valid_and_nothing_is_said(words: str) -> None:
    events = events_of(*words.split(), "seed=1")
    committed = plans(events)
    assert committed
    assert all(1 <= len(plan.actions) <= LONGEST for plan in committed)
    assert {plan.rationale for plan in committed} == {"drawn at random"}, "some valid plan is always found here"
    refused = [one.event.refused for one in events if isinstance(one.event, ThoughtEnd)]
    assert not any(reasons for reasons in refused if "ended before" not in str(reasons))
    assert not [one for one in events if isinstance(one.event, MessageSent)]


def test_every_action_of_the_vocabulary_is_drawn() -> None:
    drawn = Counter(
        action["action"]
        for seed in range(6)
        for plan in plans(events_of("env=transport", "n=4", f"seed={seed}"))
        for action in plan.actions
    )
    assert drawn.keys() == {"move", "wait"}
    assert min(drawn.values()) > 5


def test_each_agent_has_its_own_stream_and_a_seed_repeats_it() -> None:
    def drawn(seed: int) -> dict[int, list[object]]:
        found: dict[int, list[object]] = {0: [], 1: [], 2: []}
        for plan in plans(events_of("env=squeeze", "n=3", f"seed={seed}")):
            found[plan.agent].append(plan.actions)
        return found

    first = drawn(1)
    assert first == drawn(1)
    assert first != drawn(2)
    assert first[0] != first[1]


def test_a_coordinator_that_draws_is_refused() -> None:
    words = ["agents=random", "topology=centralized", "topology.leader=coordinator", "n=2"]
    with pytest.raises(UserError, match="agents=random does not talk"):
        build(Cell.compose(words), no_models)
