"""What each healer does about its pattern, on a state made by hand; and how often it may."""

from __future__ import annotations

from healers.healing import Healing, HealSettings
from healers.interventions import Intervention

from maeil.dig.patterns import PUBLISHED, Pattern
from tests.maeil.dig.story import Story
from tests.maeil.dig.test_patterns import alone, broadcast, chain, ignored, knowing, mixing


def healed(story: Story, *healers: Pattern, attempts: int = 3) -> list[Intervention]:
    """What the healers of an episode have done in the end; all of them, where none is named."""
    healing = Healing(HealSettings(healers or tuple(Pattern), PUBLISHED, attempts))
    healing.start(story.events[0].event)
    for stamped in story.events:
        healing.on_event(stamped)
    return healing.due()


def test_only_those_act_who_are_chosen():
    assert [done.finding.pattern for done in healed(ignored(6), Pattern.ORPHAN)] == [Pattern.ORPHAN]
    assert healed(ignored(6), Pattern.DEADLOCK) == []


def test_an_orphan_goes_back_to_its_sender():
    (done,) = healed(ignored(6), Pattern.ORPHAN)
    assert (done.recipients, done.annotates, done.finding.messages) == ((0,), True, (0,))
    assert done.text.startswith("Nobody has taken up your message about block_0 in 5 steps: agent_1 discarded it")


def test_the_last_one_who_passes_on_is_to_handle_it():
    (done,) = healed(chain(5), Pattern.EXCESSIVE_REROUTING)
    assert (done.recipients, done.handlers, done.annotates) == ((3,), (3,), True)
    assert "passed on by 3 agents, agent_3, agent_1, agent_2. Do not pass it on again" in done.text


def test_of_those_who_repeat_their_effort_the_task_keeps_as_many_as_it_takes():
    (done,) = healed(broadcast(3, 2), Pattern.REPEATED_EFFORT)
    assert (done.handlers, done.recipients) == ((0, 1), (2, 3))
    assert "4 of you work on block_0, which takes 2" in done.text


def test_the_least_loaded_are_kept():
    story = Story(3, block_0=1, block_1=1)
    for agent in (0, 1):
        story.think(agent)
        story.plan(agent, "block_0")
    story.think(2)
    message = story.say(2, "block_1 is over there.", 0, kind="inform")
    asked = story.say(2, "Who takes block_0?", 0, 1)
    story.plan(2, "block_1")
    story.think(0, message, asked)
    story.resume(0)
    story.think(1, asked)
    story.resume(1)
    story.step()
    (done,) = healed(story, Pattern.REPEATED_EFFORT)
    assert (done.handlers, done.recipients) == ((1,), (0,)), "agent 0 has a message that waits"


def test_who_is_asked_for_different_things_hears_whose_to_begin_with():
    (done,) = healed(mixing("Come to block_0.", "Come to block_1."), Pattern.MISSING_DEPENDENCY)
    assert (done.recipients, done.handlers, done.finding.messages) == ((2,), (0,), (0, 1))
    assert "begin with what agent_0 asks" in done.text


def test_a_plan_of_too_few_goes_back_to_its_author_three_times_at_most():
    story = alone(3, 1)
    (done,) = healed(story, Pattern.INCOMPLETE_COVERAGE)
    assert (done.recipients, done.annotates) == ((0,), False)
    assert "takes 3 agents, and since you last began anew you have heard of 2" in done.text
    for _ in range(4):
        story.end(0)
        story.think(0)
        story.plan(0, "block_0")
        story.step()
    assert len(story.found(Pattern.INCOMPLETE_COVERAGE)) == 5
    assert len(healed(story, Pattern.INCOMPLETE_COVERAGE)) == 3
    assert len(healed(story, Pattern.INCOMPLETE_COVERAGE, attempts=1)) == 1


def test_a_missed_submission_goes_to_as_many_as_the_task_takes_and_once_in_an_episode():
    story = knowing(["block_1"] * 3, takes=1)
    (done,) = healed(story, Pattern.MISSED_SUBMISSION)
    assert (done.recipients, done.handlers) == ((0,), (0,))
    assert "agent_0: do it now." in done.text
    story.takes("block_2", 1)
    story.think(1)
    message = story.say(1, "block_2, please.", 0)
    story.think(0, message)
    story.resume(0)
    story.step()
    assert len(story.found(Pattern.MISSED_SUBMISSION)) == 2
    assert len(healed(story, Pattern.MISSED_SUBMISSION)) == 1


def test_a_deadlock_goes_to_all():
    story = Story(3)
    story.step(41)
    (done,) = healed(story, Pattern.DEADLOCK)
    assert (done.recipients, done.annotates) == ((0, 1, 2), False)
    assert done.text.startswith("Nothing has come off for 41 steps.")
