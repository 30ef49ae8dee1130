"""The failure patterns of DIG to Heal, each on a state made by hand that shows it, and near ones that do not."""

from __future__ import annotations

import pytest

from maeil.dig.patterns import Pattern
from maeil.trace.events import ScoreChange
from tests.maeil.dig.story import Story


def ignored(steps: int) -> Story:
    """Agent 0 asks agent 1, who does something else; then the world goes on."""
    story = Story(2, block_0=2, block_1=1)
    story.think(0)
    message = story.say(0, "Come to block_0.", 1)
    story.plan(0, "block_0")
    story.think(1, message)
    story.plan(1, "block_1")
    story.step(steps)
    return story


def test_a_message_that_everybody_discards_is_an_orphan_after_five_steps():
    (found,) = ignored(6).found(Pattern.ORPHAN)
    assert (found.t, found.agents, found.messages, found.subject, found.count) == (5, (0, 1), (0,), "block_0", 5)
    assert not ignored(5).found(Pattern.ORPHAN), "it is not old enough"


def test_a_message_that_one_of_two_takes_up_is_no_orphan():
    story = Story(3, block_0=2, block_1=1)
    story.think(0)
    message = story.say(0, "Come to block_0.", 1, 2)
    story.plan(0, "block_0")
    for agent, target in ((1, "block_1"), (2, "block_0")):
        story.think(agent, message)
        story.plan(agent, target)
    story.step(9)
    assert not story.found(Pattern.ORPHAN)


def test_a_message_that_still_waits_is_no_orphan_until_it_is_discarded():
    story = Story(2, block_0=2, block_1=1)
    story.think(1)
    story.plan(1, "block_1")
    story.think(0)
    message = story.say(0, "Come to block_0.", 1)
    story.plan(0, "block_0")
    story.think(1, message)
    story.resume(1)
    story.step(8)
    assert not story.found(Pattern.ORPHAN)
    story.end(1)
    story.think(1)
    story.plan(1, "block_1")
    story.step()
    assert [found.count for found in story.found(Pattern.ORPHAN)] == [8]


def chain(agents: int) -> Story:
    """One asks the next, which passes it on to the next, and so forth; the last one does something else."""
    story = Story(agents, block_0=2, block_1=1)
    story.think(0)
    message = story.say(0, "Come to block_0.", 1)
    story.plan(0, "block_0")
    for agent in range(1, agents):
        story.think(agent, message)
        if agent < agents - 1:
            message = story.say(agent, "You go to block_0.", agent + 1)
        story.plan(agent, "block_1")
    story.step()
    return story


def test_a_message_that_three_agents_pass_on_is_rerouted_too_often():
    (found,) = chain(5).found(Pattern.EXCESSIVE_REROUTING)
    assert (found.agents, found.messages, found.count) == ((3, 1, 2), (0, 2), 3)
    assert not chain(4).found(Pattern.EXCESSIVE_REROUTING), "two may"


def broadcast(workers: int, takes: int, *, apart: bool = False) -> Story:
    """Agent 0 asks three for help with block_0; some of them come, and it comes itself."""
    story = Story(4, block_0=takes, block_1=1)
    story.think(0)
    messages = [story.say(0, "Come to block_0.", agent) for agent in (1, 2, 3)] if apart else []
    messages = messages or [story.say(0, "Come to block_0.", 1, 2, 3)] * 3
    story.plan(0, "block_0")
    for agent in (1, 2, 3):
        story.think(agent, messages[agent - 1])
        story.plan(agent, "block_0" if agent <= workers else "block_1")
    story.step()
    return story


def test_more_workers_on_a_broadcast_than_the_task_takes_repeat_their_effort():
    (found,) = broadcast(3, 3).found(Pattern.REPEATED_EFFORT)
    assert (found.agents, found.count, found.needed, found.subject) == ((0, 1, 2, 3), 4, 3, "block_0")
    assert not broadcast(2, 3).found(Pattern.REPEATED_EFFORT), "as many as it takes"
    assert not broadcast(3, 3, apart=True).found(Pattern.REPEATED_EFFORT), "it is not one message"


def test_a_message_to_one_makes_no_repeated_effort():
    story = Story(2, block_0=1)
    story.think(0)
    message = story.say(0, "Take block_0.", 1)
    story.plan(0, "block_0")
    story.think(1, message)
    story.plan(1, "block_0")
    story.step()
    assert story.reaction(message, 1) == "consume"
    assert not story.found(Pattern.REPEATED_EFFORT)


def test_repeated_effort_is_reported_again_only_when_somebody_joins():
    story = broadcast(2, 2)
    story.end(3)
    story.think(1)
    message = story.say(1, "block_0 needs hands.", 0, 2, 3)
    for agent, plan in ((0, "block_0"), (2, "block_0"), (3, "block_1")):
        story.think(agent, message)
        story.plan(agent, plan)
    story.step()
    assert len(story.found(Pattern.REPEATED_EFFORT)) == 1


def mixing(first: str, second: str, sender: int = 1, kind: str = "request") -> Story:
    """Agent 2 reads what two others ask of it before it plans."""
    story = Story(3, block_0=2, block_1=2)
    story.think(0)
    one = story.say(0, first, 2, kind=kind)
    story.think(sender)
    other = story.say(sender, second, 2, kind=kind)
    story.think(2, one, other)
    story.plan(2, "block_0")
    story.step()
    return story


def test_who_is_asked_for_different_things_from_equally_far_is_warned_of_a_missing_dependency():
    (found,) = mixing("Come to block_0.", "Come to block_1.").found(Pattern.MISSING_DEPENDENCY)
    assert (found.agents, found.messages) == ((2, 0, 1), (0, 1))


@pytest.mark.parametrize(
    ("first", "second", "sender", "kind"),
    [
        ("Come to block_0.", "I need one more at block_0.", 1, "request"),
        ("Come to block_0.", "Come to block_1.", 0, "request"),
        ("block_0 is here.", "block_1 is there.", 1, "inform"),
    ],
    ids=["one thing", "one source", "nobody asks"],
)
def test_near_misses_of_a_missing_dependency(first, second, sender, kind):
    assert not mixing(first, second, sender, kind).found(Pattern.MISSING_DEPENDENCY)


def test_what_comes_from_farther_back_is_no_missing_dependency():
    story = Story(4, block_0=2, block_1=2)
    story.think(0)
    first = story.say(0, "Come to block_0.", 1)
    story.think(1, first)
    passed = story.say(1, "Come to block_0.", 2)
    story.think(3)
    near = story.say(3, "Come to block_1.", 2)
    story.think(2, passed, near)
    story.plan(2, "block_0")
    story.step()
    assert not story.found(Pattern.MISSING_DEPENDENCY)


def test_what_was_planned_after_does_not_mix_with_what_comes_later():
    story = Story(3, block_0=2, block_1=2)
    story.think(0)
    one = story.say(0, "Come to block_0.", 2)
    story.think(2, one)
    story.plan(2, "block_0")
    story.think(1)
    other = story.say(1, "Come to block_1.", 2)
    story.think(2, other)
    story.resume(2)
    story.step()
    assert not story.found(Pattern.MISSING_DEPENDENCY)


def alone(takes: int, *heard: int) -> Story:
    """Agent 0 plans for block_0, after it has heard of others."""
    story = Story(3, block_0=takes)
    messages = []
    for agent in heard:
        story.think(agent)
        messages.append(story.say(agent, "I am here.", 0, kind="inform"))
    story.think(0, *messages)
    story.plan(0, "block_0")
    story.step()
    return story


def test_a_plan_for_several_whose_author_has_heard_of_too_few_is_not_covered():
    (found,) = alone(3, 1).found(Pattern.INCOMPLETE_COVERAGE)
    assert (found.agents, found.count, found.needed) == ((0,), 2, 3)
    assert not alone(3, 1, 2).found(Pattern.INCOMPLETE_COVERAGE)
    assert not alone(1).found(Pattern.INCOMPLETE_COVERAGE)


def test_what_was_heard_through_others_covers_and_what_was_heard_before_the_last_end_does_not():
    story = Story(3, block_0=3)
    story.think(2)
    far = story.say(2, "I am here.", 1, kind="inform")
    story.think(1, far)
    near = story.say(1, "We are here.", 0, kind="inform")
    story.think(0, near)
    story.plan(0, "block_0")
    story.step()
    assert not story.found(Pattern.INCOMPLETE_COVERAGE)
    story.end(0)
    story.think(0)
    story.plan(0, "block_0")
    story.step()
    assert [found.count for found in story.found(Pattern.INCOMPLETE_COVERAGE)] == [1]


def knowing(plans: list[str], takes: int = 2) -> Story:
    """Agent 0 asks agent 1 of three for block_0; then all plan."""
    story = Story(3, block_0=takes, block_1=1)
    story.think(0)
    message = story.say(0, "block_0 needs two.", 1)
    story.think(1, message)
    story.think(2)
    for agent, target in enumerate(plans):
        story.plan(agent, target)
    story.step()
    return story


def test_a_task_that_enough_were_asked_for_and_nobody_does_is_a_missed_submission():
    (found,) = knowing(["block_1"] * 3).found(Pattern.MISSED_SUBMISSION)
    assert (found.agents, found.subject, found.needed, found.messages) == ((0, 1), "block_0", 2, (0,))
    assert not knowing(["block_1", "block_0", "block_1"]).found(Pattern.MISSED_SUBMISSION), "somebody does it"
    assert not knowing(["block_1"] * 3, takes=3).found(Pattern.MISSED_SUBMISSION), "too few know"
    assert not knowing(["block_1"] * 3, takes=0).found(Pattern.MISSED_SUBMISSION), "it is over"


def test_a_missed_submission_is_reported_once():
    story = knowing(["block_1"] * 3)
    story.think(0)
    message = story.say(0, "block_0 still needs two.", 1)
    story.think(1, message)
    story.resume(1)
    story.step()
    assert len(story.found(Pattern.MISSED_SUBMISSION)) == 1


def test_more_than_forty_steps_without_progress_are_a_deadlock_once():
    story = Story(2, block_0=2)
    story.step(40)
    assert not story.found(Pattern.DEADLOCK)
    story.step(30)
    (found,) = story.found(Pattern.DEADLOCK)
    assert (found.t, found.agents, found.count) == (40, (0, 1), 41)


def test_goals_attempts_and_plans_for_a_task_are_progress_and_a_rest_is_none():
    for progress in ("score", "attempt", "plan", "rest"):
        story = Story(1, block_0=1)
        story.think(0)
        story.plan(0, "" if progress == "rest" else "block_0")
        story.step(30)
        if progress == "score":
            story.add(ScoreChange(1, 2, 1))
        elif progress == "attempt":
            story.step(task={"kind": "push", "target": "block_0/left"}, agents=[0], succeeded=True)
        else:
            story.end(0, "succeeded")
        story.step(30)
        assert len(story.found(Pattern.DEADLOCK)) == (progress == "rest")
    story = Story(1, block_0=1)
    story.step(60, task={"kind": "push", "target": "block_0/left"}, agents=[0], succeeded=False, missing=["joint"])
    assert len(story.found(Pattern.DEADLOCK)) == 1, "an attempt in vain is no progress"


def test_no_repeated_effort_of_a_task_that_nobody_knows_the_size_of():
    story = Story(3)
    story.think(0)
    message = story.say(0, "Come to block_0.", 1, 2)
    for agent in range(3):
        story.think(agent, *([message] if agent else []))
        story.plan(agent, "block_0")
    story.step()
    assert not story.analysis().findings
