"""FM-2.5 and FM-2.6: plans against orders, and plans against what was said."""

import pytest

from tests.maeil.failures.story import Story


def board():
    story = Story()
    for block in range(3):
        story.task(f"block_{block}")
    story.task("collect:tree_7")
    return story


def ordered(
    text="agent_1: push block_0; agent_2: block_2.",
    *,
    what="directive",
    first=lambda _: None,
    then=lambda _: None,
    plan="block_1",
):
    story = board()
    first(story)
    story.say(0, text, 1, 2, what=what)
    then(story)
    story.plan(1, plan)
    return story


def test_a_plan_against_orders_that_were_read_ignores_them():
    story = ordered()
    assert story.kinds() == [("ignored_input", 1, "block_0")]
    assert [proof.words for proof in story.failures()[0].proofs] == [
        "agent_0 orders agent_1 to do block_0",
        "agent_1 reads it",
        "plan P1.1 is for block_1",
    ]


@pytest.mark.parametrize(
    "way",
    [
        {"plan": "block_0"},
        {"plan": ""},
        {"plan": "tree_7"},
        {"what": "propose"},
        {"text": "agent_1: block_0 or block_2."},
        {"text": "block_0 is yours."},
        {"then": lambda story: story.task("block_0", 0)},
        {"then": lambda story: story.task("block_0", ready=False)},
        {"then": lambda story: story.task("block_0", 4)},
        {"then": lambda story: story.say(1, "I take block_1.", 0)},
        {"then": lambda story: story.say(2, "block 1 is free.", 1)},
        {"then": lambda story: story.say(0, "agent_1 is needed elsewhere.", 1)},
        {"first": lambda story: story.say(2, "I take block_0.", 1)},
        {"then": lambda story: story.say(0, "agent_1: block_1", 1, what="directive")},
        {"then": lambda story: story.plan(1, "block_0")},
    ],
    ids=[
        "it follows", "it plans no task", "another kind of task", "a proposal", "two tasks", "not to it by name",
        "over", "something comes before it", "the team is too small", "it has objected",
        "news of what it plans", "news of itself", "a mate takes it", "newer orders",
        "it has followed already",
    ],
)  # fmt: skip
def test_what_is_no_contradiction_of_orders_is_not_ignored(way):
    assert ordered(**way).kinds() == []


def test_news_of_other_things_and_the_same_orders_twice_excuse_nobody():
    def again(story):
        story.say(2, "I rest.", 1)
        story.say(0, "agent_1: block_0.", 1, what="directive")

    assert ordered(first=lambda story: story.say(0, "agent_1: block_0.", 1, what="directive"), then=again).kinds() == [
        ("ignored_input", 1, "block_0")
    ]


def said(text="I take block_0, 3 steps away.", *, then=lambda _: None, plan="block_1"):
    story = board()
    story.say(1, text, 0, 2)
    then(story)
    story.plan(1, plan)
    return story


@pytest.mark.parametrize(
    "text",
    ["I take block_0, 3 steps away.", "Hello. I'll push block_0!", "agent_1: deliver block_0", "I work on block_0: go"],
)  # fmt: skip
def test_a_plan_for_another_task_than_was_said_is_a_mismatch(text):
    story = said(text)
    assert story.kinds() == [("mismatch", 1, "block_0")]
    assert [proof.words for proof in story.failures()[0].proofs] == [
        "agent_1 says that it does block_0",
        "plan P1.1 is for block_1",
    ]


@pytest.mark.parametrize(
    "way",
    [
        {"plan": "block_0"},
        {"plan": "tree_7"},
        {"text": "I have seen block_0."},
        {"text": "I cannot take block_0: it is far."},
        {"text": "I take block_0 or block_2."},
        {"text": "agent_2: block_0"},
        {"then": lambda story: story.task("block_0", 0)},
        {"then": lambda story: story.task("block_0", ready=False)},
        {"then": lambda story: story.say(1, "I take block_1.", 0)},
        {"then": lambda story: story.say(2, "I rest.", 1)},
        {"then": lambda story: story.plan(1, "block_0")},
    ],
    ids=[
        "it does so", "another kind of task", "seen", "denied", "two tasks", "said of another", "over",
        "something comes before it", "said again", "it has read more", "done before",
    ],
)  # fmt: skip
def test_what_is_no_contradiction_of_words_is_no_mismatch(way):
    assert said(**way).kinds() == []


def test_what_an_agent_says_of_the_plan_that_it_has_is_no_promise():
    story = board()
    story.plan(1, "block_0")
    story.say(1, "I take block_0.", 0)
    story.plan(1, "block_1")
    assert story.kinds() == []


def test_orders_and_words_of_the_plan_before_are_done_with():
    story = ordered(plan="block_0")
    story.plan(1, "block_1")
    assert story.kinds() == []
