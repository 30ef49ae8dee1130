"""A team whose plans are never valid is reported after its first episode, with the reasons."""

from __future__ import annotations

from pathlib import Path

from tests.episode.extenders.conftest import Typed, write, wrong
from tests.episode.extenders.test_components import WORDS

_FLY = "class Fly(Rest):\n    action: Literal['fly'] = 'fly'\n\n\nclass Mine:"


def test_a_team_whose_plans_are_never_valid_is_told_why(typed: Typed, tmp_path: Path) -> None:
    write(tmp_path, wrong("mine.py", {"class Mine:": _FLY, "(Rest(),)": "(Fly(),)"}))
    done = typed(f"run {WORDS} max_repairs=1")
    assert done.code == 0
    refused = (
        "Nobody acted: 12 of 12 answers were refused, 12 times because fly() is not in the vocabulary; the actions"
    )
    assert f"{refused} are: rest" in done.out


def test_a_team_with_a_valid_plan_is_told_nothing(typed: Typed, tmp_path: Path) -> None:
    plans = "(Rest(),) if view.t == 2 else ()"
    write(tmp_path, wrong("mine.py", {"(Rest(),)": f"({plans})"}))
    done = typed(f"run {WORDS}")
    assert (done.code, done.err) == (0, "")
