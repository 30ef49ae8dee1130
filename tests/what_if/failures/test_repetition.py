"""FM-1.3: the same failed plan again, in the same state."""

import pytest

from tests.what_if.failures.story import Story


def repeats(
    between=lambda _: None, second="block_0", reason="push: stuck 2", flag="", first="", act="push", status="failed"
):
    story = Story()
    story.task("block_0")
    story.ends(story.plan(0, "block_0", flag=first))
    between(story)
    story.ends(story.plan(0, second, flag=flag, act=act), status, reason)
    return story


def test_the_same_plan_in_the_state_in_which_it_failed_is_a_repetition():
    story = repeats()
    assert story.kinds() == [("repetition", 0, "block_0")]
    [found] = story.failures()
    assert [proof.words for proof in found.proofs] == [
        "plan P0.1 failed: push: stuck 1",
        "plan P0.2 is the same, and no step was taken in between",
        "plan P0.2 failed: push: stuck 2",
    ]


@pytest.mark.parametrize(
    "between",
    [
        lambda story: story.step(),
        lambda story: story.plan(1, "block_0"),
        lambda story: story.say(1, "I come to block 0.", 0),
        lambda story: story.say(1, "agent_0: go on", 0),
    ],
    ids=["a step", "a mate's plan for it", "a message about it", "a message about the agent"],
)
def test_what_is_new_in_between_makes_it_no_repetition(between):
    assert repeats(between).kinds() == []


@pytest.mark.parametrize(
    "other",
    [
        {"second": "block_1"},
        {"act": "pull"},
        {"reason": "push: gone 2"},
        {"flag": "advised"},
        {"first": "advised"},
        {"status": "succeeded"},
    ],
    ids=str,
)
def test_another_plan_and_another_end_are_no_repetition(other):
    assert repeats(**other).kinds() == []


def test_news_of_something_else_do_not_excuse_it():
    def talk(story):
        story.plan(1, "block_1")
        story.say(1, "I have seen block_1.", 0)

    assert repeats(talk).kinds() == [("repetition", 0, "block_0")]
