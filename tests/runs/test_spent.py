"""What was spent, in numbers and in words: what is not known is never nothing."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from quorum.agents.llm.spending import Spent, dollars
from quorum.runs.finished import read_spent


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        (Spent(), "$0.00"),
        (Spent(10, 500, 1.5), "$1.50"),
        (Spent(10, 500, 1234.5), "$1,234.50"),
        (Spent(10, 500, 0.0042), "$0.0042"),
        (Spent(10, 500, 0.0000021), "$2.1e-06"),
        (Spent(10, 500, 0.0, unpriced=10), "price unknown"),
        (Spent(10, 500, 0.5, unpriced=4), "$0.50 and 4 answers at an unknown price"),
    ],
)
def test_money_in_words(spent: Spent, words: str) -> None:
    assert spent.money == words
    assert spent.known_usd == (None if spent.unpriced else spent.usd)


def test_small_amounts_are_not_nothing() -> None:
    assert "0.00" not in {dollars(10.0**-k) for k in range(1, 9)}
    assert dollars(0) == "$0.00"


def _reply(usd: float | None, *, repairs: int = 0, cache_hit: bool = False) -> dict[str, object]:
    usage = {"prompt": 10, "completion": 5, "cached": 0}
    return {"usage": usage, "usd": usd, "repairs": repairs, "wall": {"cache_hit": cache_hit}}


def test_what_an_episode_without_metrics_has_spent_stands_in_its_calls(tmp_path: Path) -> None:
    records = [
        {"reply": _reply(0.5)},
        {"reply": _reply(None, cache_hit=True)},
        {"failure": {"kind": "Cancelled"}},
        {"failure": {"kind": "AnswerInvalid", "answer": {"record": _reply(0.25, repairs=2)}}},  # as 0.9 wrote it
    ]
    cut_short = b'{"reply": {"usage"'
    (tmp_path / "calls.jsonl").write_bytes(b"\n".join([*map(orjson.dumps, records), cut_short]))
    assert read_spent(tmp_path) == Spent(answers=5, tokens=45, usd=0.75, unpriced=1, cached=1)


@pytest.mark.parametrize(
    ("more", "spent"),
    [
        ({}, Spent(3, 15, 0.5)),  # metrics of 0.9
        ({"model.answers": 4, "model.cached_answers": 2}, Spent(4, 15, 0.5, cached=2)),
        ({"model.usd": None}, Spent(3, 15, 0.0, unpriced=3)),
    ],
)
def test_what_a_scored_episode_has_spent_stands_in_its_metrics(
    tmp_path: Path, more: dict[str, float | None], spent: Spent
) -> None:
    metrics = {"model.calls": 3, "model.prompt_tokens": 10, "model.completion_tokens": 5, "model.usd": 0.5, **more}
    (tmp_path / "metrics.json").write_bytes(orjson.dumps(metrics))
    (tmp_path / "calls.jsonl").write_bytes(b"")
    assert read_spent(tmp_path) == spent
