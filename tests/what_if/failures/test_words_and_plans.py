"""FM-2.5 and FM-2.6: plans against orders, and plans against what was said."""

from pathlib import Path

import pytest
import yaml

from maeil.metrics.registry import METRICS
from quorum.what_if.failures import Reading, find_failures
from tests.what_if.failures.story import Story


def board():
    story = Story()
    for block in range(3):
        story.task(f"block_{block}")
    story.task("collect:tree_7")
    return story


NATURAL = yaml.safe_load((Path(__file__).parents[3] / "benchmarks" / "natural_messages.yaml").read_text())
TYPED = ((1, "block_0"), (2, "block_2"))


def ordered(
    *asks,
    what="directive",
    first=lambda _: None,
    then=lambda _: None,
    plan="block_1",
):
    story = board()
    first(story)
    story.say(0, "This is what I want.", 1, 2, what=what, asks=asks or TYPED)
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
        {"asks": [(1, "block_0"), (1, "block_2")]},
        {"asks": [(2, "block_0")]},
        {"then": lambda story: story.task("block_0", 0)},
        {"then": lambda story: story.task("block_0", ready=False)},
        {"then": lambda story: story.task("block_0", 4)},
        {"then": lambda story: story.say(1, "Not that.", 0, does="block_1")},
        {"then": lambda story: story.say(2, "block 1 is free.", 1)},
        {"then": lambda story: story.say(2, "The heavy one is mine.", 1, does="block_1")},
        {"then": lambda story: story.say(0, "agent_1 is needed elsewhere.", 1)},
        {"first": lambda story: story.say(2, "Mine.", 1, does="block_0")},
        {"then": lambda story: story.say(0, "Now this.", 1, what="directive", asks=[(1, "block_1")])},
        {"then": lambda story: story.plan(1, "block_0")},
    ],
    ids=[
        "it follows", "it plans no task", "another kind of task", "a proposal", "two tasks", "not to it",
        "over", "something comes before it", "the team is too small", "it has objected",
        "news of what it plans", "typed news of what it plans", "news of itself", "a mate takes it", "newer orders",
        "it has followed already",
    ],
)  # fmt: skip
def test_what_is_no_contradiction_of_orders_is_not_ignored(way):
    assert ordered(*way.pop("asks", ()), **way).kinds() == []


def test_news_of_other_things_and_the_same_orders_twice_excuse_nobody():
    def order(story):
        story.say(0, "Go.", 1, what="directive", asks=[(1, "block_0")])

    def again(story):
        story.say(2, "I rest.", 1)
        order(story)

    assert ordered(first=order, then=again).kinds() == [("ignored_input", 1, "block_0")]


def said(does="block_0", *, text="Mine, three steps away.", asks=(), then=lambda _: None, plan="block_1"):
    story = board()
    story.say(1, text, 0, 2, does=does, asks=asks)
    then(story)
    story.plan(1, plan)
    return story


def test_a_plan_for_another_task_than_was_said_is_a_mismatch():
    story = said()
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
        {"does": "", "text": "I take block_0."},
        {"does": "", "asks": [(2, "block_0")]},
        {"then": lambda story: story.task("block_0", 0)},
        {"then": lambda story: story.task("block_0", ready=False)},
        {"then": lambda story: story.say(1, "Or rather that.", 0, does="block_1")},
        {"then": lambda story: story.say(2, "I rest.", 1)},
        {"then": lambda story: story.plan(1, "block_0")},
    ],
    ids=[
        "it does so", "another kind of task", "in the text alone", "asked of another", "over",
        "something comes before it", "said again", "it has read more", "done before",
    ],
)  # fmt: skip
def test_what_is_no_contradiction_of_words_is_no_mismatch(way):
    assert said(**way).kinds() == []


def test_what_an_agent_says_of_the_plan_that_it_has_is_no_promise():
    story = board()
    story.plan(1, "block_0")
    story.say(1, "I go on.", 0, does="block_0")
    story.plan(1, "block_1")
    assert story.kinds() == []


def test_orders_and_words_of_the_plan_before_are_done_with():
    story = ordered(plan="block_0")
    story.plan(1, "block_1")
    assert story.kinds() == []


@pytest.mark.parametrize("claim", NATURAL["claims"], ids=lambda claim: claim["text"])
def test_a_claim_in_any_words_counts_by_its_field_or_by_what_a_judge_reads(claim):
    def story(asks):
        found = Story()
        for target in (claim["target"], "other_9"):
            found.task(f"push:{target}")
        found.say(1, claim["text"], 0, 2, does=claim["target"] if asks is not None else "", asks=asks)
        found.plan(1, "other_9")
        return found

    mismatch = [("mismatch", 1, claim["target"])]
    alone = story(None)
    assert story(()).kinds() == mismatch
    assert alone.kinds() == []
    judged = {0: Reading({"kind": "deliver", "target": claim["target"]}, ())}
    assert [(str(one.kind), one.agent, one.task) for one in find_failures(alone.trace, judged)] == mismatch


@pytest.mark.parametrize("order", NATURAL["orders"], ids=lambda order: order["text"])
def test_an_order_in_any_words_counts_by_its_field_or_by_what_a_judge_reads(order):
    needs = [(int(name.removeprefix("agent_")), target) for name, target in order["needs"].items()]
    asked, target = needs[0]

    def story(asks):
        found = Story(4)
        for one in {"other_9", *(target for _, target in needs)}:
            found.task(f"push:{one}")
        found.say(1, order["text"], 0, 2, 3, what="directive", asks=asks)
        found.plan(asked, "other_9")
        return found

    ignored, alone = [("ignored_input", asked, target)], story(None)
    assert story(needs).kinds() == ignored
    assert alone.kinds() == []
    judged = {0: Reading(None, [{"agent": one, "task": {"kind": "push", "target": to}} for one, to in needs])}
    assert [(str(one.kind), one.agent, one.task) for one in find_failures(alone.trace, judged)] == ignored


def test_metrics_of_words_are_absent_and_not_0_where_a_message_is_text_alone():
    names = [f"failure.{name}" for name in ("ignored_input", "mismatch", "number", "per_plan", "silence")]
    typed, alone = ordered(), ordered()
    alone.say(2, "Hello.", 0, asks=None)
    assert [METRICS[name].function(typed.trace) for name in names] == [1, 0, 1, 1.0, 0]
    assert [METRICS[name].function(alone.trace) for name in names] == [None, None, None, None, 0]
