"""FM-1.5 and FM-2.4: plans for tasks that are over, and what was known of them and not said."""

import pytest

from maeil.plans import Task
from maeil.tasks import no_such_task
from tests.what_if.failures.story import Story


def delivered(by=(1,), speaks=(1,), said="I rest.", to=(2,)):
    """One agent finishes a task, some may speak, and another agent, 2, commits a plan for it, which fails."""
    story = Story()
    story.task("block_0/left")
    story.task("block_1/left")
    story.tries("block_0/left", *by)
    story.step()
    story.task("block_0/left", 0)
    for agent in speaks:
        story.turn(agent)
        story.say(agent, said, *to)
    story.turn(2)
    story.ends(story.plan(2, "block_0"), reason="push: gone")
    return story


def test_a_plan_for_a_task_that_is_over_is_unaware_of_its_termination():
    assert delivered(speaks=()).kinds() == [("termination", 2, "block_0")]


def test_what_was_withheld_is_the_failure_of_who_knew_it():
    story = delivered()
    assert story.kinds() == [("withholding", 1, "block_0")]
    assert [proof.words for proof in story.failures()[0].proofs] == [
        "agent_1 did block_0",
        "block_0 is over",
        "agent_1 had a turn to speak, and has not named block_0",
        "agent_2 committed plan P2.1 for block_0",
        "plan P2.1 failed: push: gone",
    ]


@pytest.mark.parametrize(
    "way",
    [
        {"said": "Block 0 is there."},
        {"by": (2,)},
        {"by": (1, 2)},
        {"to": (0,)},
        {"speaks": (0,)},
    ],
    ids=[
        "it was said",
        "the agent did it itself",
        "it did it with others",
        "it cannot be reached",
        "only others spoke",
    ],
)
def test_without_a_withholder_it_is_a_termination(way):
    assert delivered(**way).kinds() == [("termination", 2, "block_0")]


def test_a_turn_that_ends_after_the_thought_has_started_came_too_late():
    story = Story()
    story.task("block_0")
    story.tries("block_0", 1)
    story.step()
    story.task("block_0", 0)
    story.think(2)
    story.turn(1)
    story.say(1, "I rest.", 2)
    story.thought(2)
    story.ends(story.plan(2, "block_0"))
    assert story.kinds() == [("termination", 2, "block_0")]


def test_the_world_reports_an_end_behind_the_plans_of_its_step():
    story = Story()
    story.task("block_0")
    story.step()
    plan = story.plan(2, "block_0")
    story.task("block_0", 0)  # before the step from t = 1: the plan of t = 1 was for a task that was over
    story.ends(plan)
    assert story.kinds() == [("termination", 2, "block_0")]


def test_a_task_that_ends_while_a_plan_runs_is_no_termination():
    story = Story()
    story.task("block_0")
    plan = story.plan(2, "block_0")
    story.step()
    story.task("block_0", 0)
    story.ends(plan)
    assert story.kinds() == []


@pytest.mark.parametrize("last", ["block_0", "block_0/up"])
def test_a_target_is_over_with_the_last_way_of_doing_it(last):
    story = Story()
    story.task("block_0/left")
    story.task(last)
    story.step()
    story.task("block_0/left", 0)
    story.ends(story.plan(0, "block_0"))
    assert story.kinds() == []


def test_a_task_that_comes_back_is_not_over():
    story = Story()
    story.task("block_0")
    story.step()
    story.task("block_0", 0)
    story.step()
    story.task("block_0")
    story.ends(story.plan(0, "block_0"))
    assert story.kinds() == []


def test_tasks_that_are_there_only_while_they_are_done_are_never_over():
    story = Story()
    story.task("craft:sword", acting=1)
    story.step()
    story.task("craft:sword", 0)
    story.ends(story.plan(0, "sword"))
    assert story.kinds() == []


@pytest.mark.parametrize(("status", "flag"), [("succeeded", ""), ("interrupted", ""), ("failed", "forced_ready")])
def test_a_plan_that_did_not_fail_or_was_not_its_own_is_no_termination(status, flag):
    story = Story()
    story.task("block_0")
    story.step()
    story.task("block_0", 0)
    story.ends(story.plan(0, "block_0", flag=flag), status)
    assert story.kinds() == []


@pytest.mark.parametrize(
    "reasons",
    [
        ("block 0 is delivered", "push(block=0): block 0 is delivered", "block 1 is far"),
        (no_such_task(Task("deliver", "block_0"), {"deliver": ["block_1"]}),),
    ],
)
def test_plans_that_the_world_refuses_for_a_task_that_is_over_count_once_a_step(reasons):
    story = Story()
    story.task("block_0")
    story.task("block_1")
    story.step()
    story.task("block_0", 0)
    for reason in reasons:
        story.think(1)
        story.thought(1, reason)
    assert story.kinds() == [("termination", 1, "block_0")]


def missed(*, informed=False, knew=False, came_off=False, lacks="spatial", task="block_0/left"):
    """An attempt of agents 0 and 1 lacks something; agent 2 tries it, too."""
    story = Story()
    story.task("block_0/left", 4)
    story.task("block_0/up", 4)
    story.tries("block_0/left", 0, 1, *([2] if knew else []), missing=["spatial"])
    story.step()
    if came_off:
        story.tries("block_0/left", 0)
    story.turn(1)
    story.say(1, "block_0 is too heavy for two." if informed else "I rest.", 0, 2)
    story.turn(2)
    plan = story.plan(2, "block_0")
    story.step()
    story.ends(plan, "timed_out")
    story.tries(task, 2, missing=[lacks], unmet=True)
    return [found for found in story.kinds() if found[0] == "withholding"]


def test_who_was_at_an_attempt_knows_what_it_was_missing():
    assert missed() == [("withholding", 1, "block_0")]


@pytest.mark.parametrize(
    "way",
    [{"informed": True}, {"knew": True}, {"came_off": True}, {"lacks": "dependency"}, {"task": "block_0/up"}],
    ids=str,
)
def test_what_was_said_or_known_or_is_another_thing_was_not_withheld(way):
    assert missed(**way) == []
