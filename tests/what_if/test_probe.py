"""Belief probes: how far a fact travels, and what its questions offer."""

from __future__ import annotations

from maeil.trace.events import Event, MessageSent, MessagesRead, PlanChange, Stamped
from quorum.what_if.extensions.probe.facts import MOST_CHOICES, REGIONS, Fact, Talk, _choices, named_in, region

NAMES = ("agent_0", "agent_1", "agent_2", "agent_3")


def sent(message: int, sender: int, recipient: int, text: str) -> MessageSent:
    return MessageSent(message, sender, (recipient,), "inform", text, 0, [])


def talk(*events: Event, t: int = 0) -> Talk:
    found = Talk(NAMES)
    for event in events:
        found.take(Stamped(0, t, 0, 0.0, event))
    return found


def passed_on(*texts: str) -> Talk:
    """A chain: each agent writes to the next, which reads it."""
    events: list[Event] = []
    for sender, text in enumerate(texts):
        events += [sent(sender, sender, sender + 1, text), MessagesRead(sender + 1, [sender])]
    return talk(*events)


def test_a_hop_is_a_message_that_names_the_thing_and_counts_from_whoever_names_it_first() -> None:
    fact = Fact("place", "block_3", "north", REGIONS, "block_3")
    assert passed_on("Block 3 is free", "see block_3", "I saw block-3").hops(fact) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert passed_on("block_3 is free", "nothing new", "block_3!").hops(fact) == {0: 0, 1: 1, 2: 0, 3: 1}
    assert passed_on("block_30 is free").hops(fact) == {}


def test_a_plan_is_passed_on_only_with_the_name_of_its_agent_by_those_whom_it_reached() -> None:
    fact = Fact("plan", "agent_0", "block_3", ("block_3",), "block_3", source=0)
    assert passed_on("I take block_3", "agent_0 takes block_3").hops(fact) == {0: 0, 1: 1, 2: 2}
    assert passed_on("I take block_3", "I take block_3").hops(fact) == {0: 0, 1: 1}
    assert passed_on("hello", "agent_0 takes block_3").hops(fact) == {0: 0}  # a guess is no message of the source


def test_the_shortest_way_counts_and_an_unread_message_brings_nothing() -> None:
    fact = Fact("message", "agent_0", "block_3", ("block_3",), "block_3", source=0)
    both = talk(
        sent(0, 0, 1, "block_3"), MessagesRead(1, [0]), sent(1, 1, 2, "agent_0: block_3"), MessagesRead(2, [1]),
        sent(2, 0, 2, "block_3"), MessagesRead(2, [2]), sent(3, 0, 3, "block_3"),
    )  # fmt: skip
    assert both.hops(fact) == {0: 0, 1: 1, 2: 1}


def test_a_message_from_before_the_plan_does_not_carry_it() -> None:
    heard = talk(sent(0, 0, 1, "block_3"), MessagesRead(1, [0]), t=1)
    plan = PlanChange("P0.1", 0, "committed", task={"kind": "deliver", "target": "block_3/left"}, actions=[])
    heard.take(Stamped(0, 2, 0, 0.0, plan))
    assert heard.works == {0: "block_3"}
    assert heard.hops(Fact("plan", "agent_0", "block_3", (), "block_3", 0, heard.announced[0])) == {0: 0}


def test_a_plan_that_the_loop_commits_in_a_minds_stead_is_nobodys() -> None:
    plan = PlanChange("P0.1", 0, "committed", actions=[], flag="invalid_plan")
    assert talk(plan).works == {}


def test_choices_are_bounded_hold_all_right_answers_and_their_order_gives_none_away() -> None:
    many = [f"block_{number:02}" for number in range(40)]
    choices = _choices(["block_33", "block_07"], many)
    assert len(choices) == MOST_CHOICES
    assert {"block_33", "block_07"} < set(choices)
    assert list(choices) == sorted(choices)


def test_a_name_within_another_is_not_named() -> None:
    assert named_in("cut tree_17", ["tree", "tree_17"]) == ["tree_17"]


def test_the_parts_of_a_board_are_its_thirds() -> None:
    assert [region(row / 9, col / 9) for row in (0, 4, 8) for col in (0, 4, 8)] == list(REGIONS)
    assert len(set(REGIONS)) == 9
    assert region(0, 1) == "north-east"  # on the edge
