"""FM-2.2: waited for mates whom nobody has asked."""

import pytest

from tests.what_if.failures.story import Story


def waits(
    before=lambda _: None,
    *,
    needs=2,
    missing=("spatial",),
    acts=("plan", "speak"),
    status="timed_out",
    extra=(),
    unmet=True,
):
    story = Story()
    story.task("block_0", needs)
    before(story)
    story.turn(0, *acts)
    plan = story.plan(0, "block_0")
    story.step()
    story.ends(plan, status, "rendezvous: timeout")
    story.tries("block_0", 0, *extra, missing=missing, unmet=unmet)
    return story


def test_a_wait_in_vain_that_nobody_was_told_of_is_a_silence():
    story = waits()
    assert story.kinds() == [("silence", 0, "block_0")]
    assert [proof.words for proof in story.failures()[0].proofs] == [
        "agent_0 had a turn to speak, and has not named block_0",
        "plan P0.1 is for block_0, which takes 2 agents",
        "plan P0.1 failed: rendezvous: timeout",
        "1 of 2 agents were there",
    ]


@pytest.mark.parametrize(
    "before",
    [
        lambda story: story.say(0, "Come to block 0!", 1),
        lambda story: story.say(1, "I have seen block_0.", 2),
        lambda story: story.plan(1, "block_0"),
    ],
    ids=["it asked", "others spoke of it", "a mate had a plan for it"],
)
def test_who_is_known_to_be_needed_is_not_silent(before):
    assert waits(before).kinds() == []


@pytest.mark.parametrize(
    "way",
    [
        {"needs": 1},
        {"missing": ()},
        {"acts": ("plan",)},
        {"status": "succeeded"},
        {"extra": (1,)},
        {"unmet": False},
    ],
    ids=[
        "it takes one",
        "it came off",
        "no turn to speak",
        "the plan succeeded",
        "enough were there",
        "the next plan tried it",
    ],
)
def test_what_did_not_fail_for_want_of_mates_is_no_silence(way):
    assert waits(**way).kinds() == []


def test_a_mates_plan_that_ended_before_does_not_count():
    assert waits(lambda story: story.ends(story.plan(1, "block_0"), "interrupted")).kinds() == [
        ("silence", 0, "block_0")
    ]
