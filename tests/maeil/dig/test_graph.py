"""The interaction graph of a trace: thoughts, messages, and how each recipient reacted, rule by rule."""

from __future__ import annotations

from tests.maeil.dig.story import Story


def asked(**tasks: int) -> tuple[Story, int]:
    """Agent 0 asks agent 1 of three to come to block_0."""
    story = Story(3, block_0=2, block_1=1, **tasks)
    story.think(0)
    message = story.say(0, "Come to block_0.", 1)
    story.plan(0, "block_0")
    return story, message


def test_a_thought_takes_in_what_it_reads_and_gives_out_what_it_says():
    story, message = asked()
    story.think(1, message)
    answer = story.say(1, "Coming.", 0)
    story.plan(1, "block_0")
    story.step()
    first, second = story.analysis().graph.activations
    assert (first.inputs, first.outputs, first.generates) == ([], [0], True)
    assert (second.inputs, second.outputs) == ([message], [answer])
    assert not second.generates


def test_a_message_that_nobody_has_read_is_pending():
    story, message = asked()
    story.step()
    assert story.reaction(message, 1) == "pending"


def test_who_plans_what_was_asked_has_taken_it_up():
    story, message = asked()
    story.think(1, message)
    story.plan(1, "block_0")
    story.step()
    assert story.reaction(message, 1) == "consume"


def test_who_plans_something_else_has_discarded_it():
    story, message = asked()
    story.think(1, message)
    story.plan(1, "block_1")
    story.step()
    assert story.reaction(message, 1) == "discard"


def test_what_only_informs_is_taken_up_by_any_plan():
    story = Story(2, block_0=2, block_1=1)
    story.think(0)
    message = story.say(0, "block_0 stands at the wall.", 1, kind="inform")
    story.think(1, message)
    story.plan(1, "block_1")
    story.step()
    assert story.reaction(message, 1) == "consume"


def test_a_proposal_asks_where_the_task_takes_several():
    for takes, reaction in ((2, "discard"), (1, "consume")):
        story = Story(2, block_0=takes, block_1=1)
        story.think(0)
        message = story.say(0, "I take block_0.", 1, kind="propose")
        story.think(1, message)
        story.plan(1, "block_1")
        story.step()
        assert story.reaction(message, 1) == reaction


def test_who_answers_a_request_has_taken_it_up():
    story, message = asked()
    story.think(1, message)
    story.say(1, "I cannot.", 0, kind="ack")
    story.plan(1, "block_1")
    story.step()
    assert story.reaction(message, 1) == "consume"


def test_who_passes_it_on_to_somebody_new_and_does_something_else_has_rerouted_it():
    story, message = asked()
    story.think(1, message)
    passed = story.say(1, "Go to block 0 for agent_0.", 2)
    story.plan(1, "block_1")
    story.step()
    assert story.reaction(message, 1) == "reroute"
    assert story.analysis().graph.messages[passed].thread == message


def test_what_was_said_before_the_message_was_read_passes_nothing_on():
    story, message = asked()
    story.think(1)
    story.say(1, "Who takes block_0?", 2)
    story.think(1, message)
    story.plan(1, "block_1")
    story.step()
    assert story.reaction(message, 1) == "discard"


def test_who_goes_on_with_another_plan_lets_it_wait_until_its_next_plan():
    story = Story(2, block_0=2, block_1=1)
    story.think(1)
    story.plan(1, "block_1")
    story.think(0)
    message = story.say(0, "Come to block_0.", 1)
    story.plan(0, "block_0")
    story.think(1, message)
    story.resume(1)
    story.step()
    assert story.reaction(message, 1) == "wait"
    story.end(1, "succeeded")
    story.think(1)
    story.plan(1, "block_0")
    story.step()
    assert story.reaction(message, 1) == "consume"


def test_who_goes_on_with_what_was_asked_has_taken_it_up():
    story = Story(2, block_0=2)
    story.think(1)
    story.plan(1, "block_0")
    story.think(0)
    message = story.say(0, "Come to block_0.", 1)
    story.plan(0, "block_0")
    story.think(1, message)
    story.resume(1)
    story.step()
    assert story.reaction(message, 1) == "consume"


def test_a_plan_in_the_place_of_a_mind_takes_nothing_up():
    story, message = asked()
    story.think(1, message)
    story.plan(1, "block_0", flag="invalid_plan")
    story.step()
    assert story.reaction(message, 1) == "discard"


def test_a_coordinator_takes_up_by_what_it_says():
    story = Story(1, 1, block_0=1)
    story.think(0)
    message = story.say(0, "What shall I do?", 1)
    story.think(1, message)
    order = story.say(1, "block_0", 0, kind="directive")
    story.think(0, order)
    story.plan(0, "block_0")
    story.step()
    assert story.reaction(message, 1) == "consume"
    assert story.analysis().graph.messages[order].lineage == 1


def test_the_source_of_a_message_is_the_thought_that_gave_out_more_than_it_took_in():
    story, message = asked()
    story.think(1, message)
    passed = story.say(1, "Go to block_0.", 2)
    graph = story.analysis().graph
    assert graph.generator(message, 10) == (0, 0)
    assert graph.generator(passed, 10) == (0, 1)
    assert graph.generator(passed, 2) == (0, 1)
    assert graph.generator(passed, 1) is None, "the published code looks at as many thoughts as the depth says"


def test_every_prefix_of_a_trace_has_a_graph():
    story, message = asked()
    story.think(1, message)
    story.plan(1, "block_0")
    story.step()
    whole = story.events
    for length in range(1, len(whole) + 1):
        story.events = whole[:length]
        story.analysis()
