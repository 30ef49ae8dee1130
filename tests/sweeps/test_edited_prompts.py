"""A sweep that is said again after a template was edited: two experiments, never one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum.comparison import Question, compare
from quorum.comparison.notes import notes
from quorum.runs import read_results
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.engines import local
from quorum.sweeps.run import SweepRequest
from quorum_base.user_errors import UserError

WORDS = ("agents=naive", "n=1", "max_steps=2", "engine.workers=1")


@pytest.fixture
def sweep(tmp_path: Path) -> Callable[..., dict[str, int]]:
    """Run a sweep called `s` with a template of one's own, and say how many cells were there and how many were run."""
    own = tmp_path / "prompts" / "cube"
    own.mkdir(parents=True)

    def run(rules: str, *words: str) -> dict[str, int]:
        (own / "rules.jinja").write_text(rules)
        given = (*WORDS, f"prompts.folder={own.parent}", *words)
        result = run_sweep_command(SweepRequest(given, tmp_path, "s"), quiet=True)
        return {"before": result.before, "now": len(result.finished)}

    return run


def test_an_edited_template_is_run_again_and_not_pooled_with_the_old_one(
    sweep: Callable[..., dict[str, int]], tmp_path: Path
) -> None:
    assert sweep("Push.", "seed=0,1") == {"before": 0, "now": 2}
    assert sweep("Push.", "seed=0,1") == {"before": 2, "now": 0}
    assert sweep("Pull.", "seed=1,2") == {"before": 0, "now": 2}
    metas = [json.loads(file.read_text()) for file in sorted((tmp_path / "s").glob("*/meta.json"))]
    assert len({meta["inputs"]["prompts.folder/cube/rules.jinja"] for meta in metas}) == 2
    found = read_results(tmp_path / "s")
    with pytest.raises(UserError, match=r"different inputs: prompts.folder/cube/rules.jinja differ .*\n.*--by inputs"):
        compare([found], Question())
    reported = compare([found], Question(by=["inputs"]))
    assert [tally.pooled for tally in reported.pool.tallies] == [2, 2]
    accepted = compare([found], Question(accept_versions=True))
    assert "prompts.folder/cube/rules.jinja (" in "\n".join(notes(accepted))


def test_a_template_that_is_edited_while_a_sweep_runs_ends_it(
    sweep: Callable[..., dict[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = local.Local.run

    def late(*arguments: object) -> None:
        (tmp_path / "prompts" / "cube" / "rules.jinja").write_text("Pull.")
        begin(*arguments)

    monkeypatch.setattr(local.Local, "run", late)
    (tmp_path / "prompts" / "cube" / "rules.jinja").write_text("Push.")
    words = (*WORDS, f"prompts.folder={tmp_path / 'prompts'}", "seed=0,1")
    report = run_sweep_command(SweepRequest(words, tmp_path, "s"), quiet=True)
    assert report.exit_code == 2
    assert "changed since this command began: prompts.folder/cube/rules.jinja" in report.complaint
    assert list((tmp_path / "s").glob("cube-*")) == []
