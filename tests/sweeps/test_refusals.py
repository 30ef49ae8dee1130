"""A mistake of the user is one message, exit code 2, and nothing on disk."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from quorum import cli
from quorum.installation import packages
from quorum_base.user_errors import UserError

MISTAKES = {
    (): "a sweep needs a grid",
    ("nn=2",): "nn: there is no such key",
    ("n=2,x",): "n: 'x'",
    ("topology=debat",): "topology: there is no option 'debat'",
    ("n=shuffle(1,2)",): "shuffle()",
    ("n=interval(0,1)",): "interval()",
    ("seed=range(2,2)",): "the grid is empty",
    ("n=2", "--name", "a/b"): "--name 'a/b'",
    ("n=2", "--name", ".."): "--name '..'",
    ("n=2", "--name", ""): "--name ''",
    ("experiment=quickstat",): "Did you mean 'quickstart'?",
    ("experiment=a,b",): "give the name of one experiment",
    ("experiment=../quickstart",): "give the name of one experiment",
    ("n=2", "engine=cloud"): "engine: there is no option 'cloud'",
    ("n=2", "engine=local,ray"): "a sweep has one engine",
    ("n=2", "engine.workers=0"): "engine.workers",
    ("n=2", "engine.worker=1"): "engine.worker: there is no such key",
    ("n=2", "--budget-usd", "0"): "--budget-usd 0.0: a budget must be finite and greater than 0",
    ("n=2", "--budget-tokens", "-5"): "--budget-tokens -5: a budget must be finite and greater than 0",
    ("n=2", "--config-dir", "nowhere"): "--config-dir nowhere",
    ("n=2", "--plugin", "no_such_plugin"): "--plugin no_such_plugin",
    ("n=2", "--out", "/proc/nowhere"): "nothing can be written to /proc: ",
    ("n=2", "--out", "file"): "file: Not a directory",
}


@pytest.mark.parametrize("arguments", MISTAKES, ids=" ".join)
def test_a_mistake_is_one_message_and_leaves_nothing(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["quorum", "sweep", *arguments])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, reported = capsys.readouterr()
    assert (left.value.code, out) == (2, "")
    assert reported.startswith("error: ")
    assert reported.count("error: ") == 1
    assert len(reported.splitlines()) <= 2
    assert MISTAKES[arguments] in reported
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(("engine", "package"), [("ray", "ray"), ("slurm", "submitit")])
def test_a_missing_extra_names_the_install_line(engine: str, package: str, monkeypatch, capsys, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(packages, "import_module", missing)
    monkeypatch.setattr(sys, "argv", ["quorum", "sweep", "n=2", f"engine={engine}", "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    reported = capsys.readouterr().err
    assert f"the package {package} is missing\npip install 'quorum-harness[{engine}]'" in reported


def test_results_of_other_code_are_refused_unless_they_are_accepted(sweep, tmp_path: Path) -> None:
    words = ("agents=walker", "n=1", "seed=0,1")
    sweep(*words, limit=1)
    (meta,) = tmp_path.glob("s/*/meta.json")
    data = json.loads(meta.read_text())
    meta.write_text(json.dumps({**data, "versions": {**data["versions"], "quorum-harness": "0.0.1"}}))
    with pytest.raises(UserError, match=r"1 cells with version 0\.0\.1.*\n.*--accept-versions"):
        sweep(*words)
    assert sweep(*words, accept_versions=True).left == 0


def test_an_arm_that_meant_something_else_before_is_refused(sweep, options: Path) -> None:
    file = options / "experiment" / "changing.yaml"
    file.write_text("fixed: [agents=walker, n=1]\ngrid: []\narms: {a: [env.length=2]}\n")
    sweep("experiment=changing")
    file.write_text("fixed: [agents=walker, n=1]\ngrid: []\narms: {a: [env.length=3]}\n")
    with pytest.raises(UserError, match=r"the arm 'a' was env\.length=2 in this sweep\n.*--name"):
        sweep("experiment=changing")
