"""What the records of language-model calls add up to."""

import pytest

from maeil import Call, Plan, Thought
from maeil.metrics import compute_metrics
from maeil.trace import Trace, read_trace
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, play

RECORDS = (
    {
        "completion_tokens": 10, "prompt_tokens": 100, "cached_tokens": 0, "usd": 0.25, "seconds": 1.0, "retries": 2,
        "reasoning_tokens": 7, "empty_answer": "length",
    },
    {
        "completion_tokens": 20, "prompt_tokens": 200, "cached_tokens": 150, "cache_written_tokens": 40, "usd": 0.5,
        "seconds": 2.0, "repairs": 1,
    },
    {
        "completion_tokens": 30, "prompt_tokens": 300, "cached_tokens": 100, "usd": 0, "seconds": 4.0,
        "parse_failure": True, "usage_estimated": True, "fallback": "other",
    },
)  # fmt: skip


def metrics(*records, path=None):
    thought = Thought(Plan((Walk(),)), calls=tuple(Call(1, record) for record in records))
    events = play([Scripted(thought)], Corridor(1, length=1), path=path)
    return compute_metrics(Trace(tuple(events)) if path is None else read_trace(path))


@pytest.mark.parametrize("recorded", [False, True])
def test_model_by_hand(recorded, tmp_path):
    found = metrics(*RECORDS, path=tmp_path / "trace.jsonl" if recorded else None)
    assert {name.removeprefix("model."): value for name, value in found.items() if name.startswith("model.")} == {
        "calls": 3,
        "answers": 3,
        "unanswered": 0,
        "cached_answers": 0,
        "asked_otherwise": 0,
        "completion_tokens": 60,
        "prompt_tokens": 600,
        "cached_tokens": 250,
        "cache_written_tokens": 40,
        "prompt_cache_share": 250 / 600,
        "usd": 0.75,
        "latency_median_seconds": 2.0,
        "retries": 2,
        "repairs": 1,
        "parse_failures": 1,
        "empty_answers": 1,
        "fallbacks": 1,
        "reasoning_tokens": 7,
        "estimated_calls": 1,
    }


def test_answers_are_those_of_repairs_too_and_requests_without_one_are_counted_apart():
    found = metrics(
        {"completion_tokens": 30, "usd": 0.5, "answers": 3, "repairs": 2, "cache_hit": True},
        {"completion_tokens": 10, "usd": 0.25},
        {"completion_tokens": 10, "usd": 0.25, "unanswered": "cancelled"},
        {"completion_tokens": 20, "usd": 0.5, "answers": 2, "unanswered": "failed"},
        {"unanswered": "failed"},
    )
    assert {name: found[f"model.{name}"] for name in ("calls", "answers", "unanswered", "cached_answers")} == {
        "calls": 5,
        "answers": 7,
        "unanswered": 3,
        "cached_answers": 3,
    }
    assert (found["model.completion_tokens"], found["model.usd"]) == (70, 1.5)


def test_the_share_of_a_cache_is_unknown_where_a_call_does_not_tell_and_of_nothing_read():
    assert (
        metrics({"prompt_tokens": 100, "cached_tokens": 50}, {"prompt_tokens": 10})["model.prompt_cache_share"] is None
    )
    assert metrics()["model.prompt_cache_share"] is None


@pytest.mark.parametrize("unknown", [{}, {"usd": None}, {"usd": "0.1"}, {"usd": True}, {"usd": float("nan")}])
def test_money_that_one_call_does_not_tell_is_unknown_and_not_nothing(unknown):
    found = metrics({"usd": 0.5}, unknown)
    assert found["model.usd"] is None
    assert found["model.completion_tokens"] is None
    assert (found["model.calls"], found["model.retries"], found["model.parse_failures"]) == (2, 0, 0)


def test_latency_is_that_of_the_calls_that_tell_it():
    assert metrics({"seconds": 3.0}, {})["model.latency_median_seconds"] == 3.0
    assert metrics(*({"seconds": s} for s in (4.0, 1.0, 2.0, 3.0)))["model.latency_median_seconds"] == 2.5
    assert metrics({})["model.latency_median_seconds"] is None
    assert metrics({"seconds": 3.0}, {"seconds": 0.001, "cache_hit": True})["model.latency_median_seconds"] == 3.0


def test_a_team_without_calls_has_spent_nothing():
    found = metrics()
    assert (found["model.calls"], found["model.usd"], found["model.completion_tokens"]) == (0, 0, 0)
