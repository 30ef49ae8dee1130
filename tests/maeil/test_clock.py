from hypothesis import given
from hypothesis import strategies as st

from maeil.calls import Call
from maeil.clock import ClockCount, ClockUnit, EventQueue

entries = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(entries)
def test_events_come_by_time_then_agent_then_order_of_arrival(pushed):
    queue = EventQueue()
    for number, (time, agent) in enumerate(pushed):
        queue.push(time, agent, (time, agent, number))
    popped = []
    while queue:
        instant = queue.next_time
        assert queue.pop(instant - 1) is None
        agent, event = queue.pop(instant)
        assert event[:2] == (instant, agent)
        popped.append(event)
    assert popped == sorted((time, agent, number) for number, (time, agent) in enumerate(pushed))


def test_a_thought_costs_its_completion_tokens_or_one_or_its_seconds():
    calls = (Call(30, {}), Call(12, {}))
    assert ClockUnit.TOKENS.cost(calls, 0.5) == 42
    assert ClockUnit.TOKENS.cost((), 0.5) == 1
    assert ClockUnit.TOKENS.cost((Call(30, {}, 20), Call(12, {})), 0.5) == 42
    assert ClockUnit.TOKENS.cost((Call(30, {}, 20), Call(12, {})), 0.5, ClockCount.ANSWER) == 22
    assert ClockUnit.TOKENS.cost((Call(30, {}, 30),), 0.5, ClockCount.ANSWER) == 1
    assert ClockUnit.TOKENS.cost((), 0.5, ClockCount.ANSWER) == 1
    assert ClockUnit.FIXED.cost(calls, 0.5) == 1
    assert ClockUnit.SECONDS.cost(calls, 0.5) == 0.5
