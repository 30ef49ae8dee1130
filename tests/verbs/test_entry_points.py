"""Verbs of installed packages and of satellites: found by entry points, and never a reason for the command to fail."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum_base.registry import Registry, offers
from tests.conftest import ROOT, command, environment
from tests.docs.test_commands import files
from tests.folders import real_sweep

PAGE = (ROOT / "docs" / "writing-a-verb.md").read_text(encoding="utf-8")
(DECLARED,) = re.findall(r"^```toml\n\[project\.entry-points\.\"quorum\.verbs\"\]\n(.*?)^```$", PAGE, re.M | re.S)
Installed = Callable[..., subprocess.CompletedProcess[str]]


def install(folder: Path, name: str, points: str, group: str = "quorum.verbs") -> None:
    """Leave the metadata that pip leaves of a package."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{points}")


@pytest.fixture
def quorum(tmp_path: Path) -> Installed:
    """Type a command where the packages in the folder `site` are installed."""

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        variables = environment()
        variables["PYTHONPATH"] += f":{tmp_path / 'site'}"
        return subprocess.run(command(*words), cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)

    return typed


def test_the_verb_of_the_guide_is_listed_completed_and_run(quorum: Installed, tmp_path: Path) -> None:
    install(tmp_path / "site", "longest", DECLARED.replace('"', ""))
    for name, text in files(PAGE).items():
        (tmp_path / "site" / name).write_text(text)
    shown = quorum("--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    look = shown.stdout.partition("\nLook:\n")[2].partition("\n\n")[0].splitlines()
    assert look[-1].split(maxsplit=1) == ["longest", "Show the runs that took the most steps."]
    assert quorum("complete", "--", "longest", "--r").stdout == "--runs\tShow this many runs.\n"

    real_sweep(tmp_path / "runs", [("env=squeeze", f"n={n}", "max_steps=3") for n in (3, 5)])
    done = quorum("longest", "runs", "--runs", "1", "--verbose")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    refused = quorum("longest", "runs", "--runs", "0")
    assert (refused.returncode, "--runs" in refused.stderr) == (2, True)


BROKEN = {
    "absent = no_such_module:verb": "ModuleNotFoundError: No module named 'no_such_module'",
    "wrong = broken:number": "verb 'wrong': it is a int, not a quorum.verbs.verb.Verb",
    "quits = quits:verb": "Exited: it calls sys.exit(0)",
}


def test_a_broken_verb_is_one_line_that_names_it(quorum: Installed, tmp_path: Path) -> None:
    install(tmp_path / "site", "broken", "\n".join([*BROKEN, "odd = broken:odd", ""]))
    install(tmp_path / "site", "second", "study = broken:odd\nrun = broken:number\n")  # names that are taken
    (tmp_path / "site" / "quits.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "site" / "broken.py").write_text(
        "from quorum.verbs.verb import Verb\n\nnumber = 3\n\n\ndef odd(thing: 'Missing'):\n"
        "    'Do it.'\n\n\nodd = Verb(odd, 'Look')\n"
    )
    shown = quorum("--help")
    assert shown.returncode == 0
    taken = "broken:{}: not used, because Quorum has a verb '{}': give it another name"
    lines = shown.stderr.splitlines()
    for name, verb in (("number", "run"), ("odd", "study")):
        [line] = [line for line in lines if line.endswith(taken.format(name, verb))]
        lines.remove(line)
    reasons = {line.split("`")[1].split()[1]: line for line in lines}
    assert len(lines) == len(reasons) == len(BROKEN)
    for point, reason in BROKEN.items():
        assert reasons[point.split()[0]].startswith(f"warning: `quorum {point.split()[0]}` is left out: ")
        assert reason in reasons[point.split()[0]]
    for verb in ("run +Run one episode", "study +Answer whether an effect"):
        assert re.search(f"^  {verb}", shown.stdout, re.MULTILINE), "nobody replaces a verb that ships"
    used = quorum("odd")
    assert used.returncode == 2
    warning, *rest = used.stderr.splitlines()
    assert warning == "warning: `quorum odd` is left out: NameError: name 'Missing' is not defined"
    assert "No such command 'odd'" in rest[-1]
    assert quorum("list").stderr == ""


def test_a_removed_satellite_has_no_verb_no_metric_and_no_message(tmp_path: Path) -> None:
    """In a checkout without the folder."""
    for name in ("quorum", "quorum_base", "maeil", "cube_env"):
        left_out = shutil.ignore_patterns("__pycache__", "what_if")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=left_out)
    shutil.copy(ROOT / "quorum_harness.py", tmp_path)

    def typed(folder: Path, *words: str) -> str:
        variables = environment(PYTHONPATH=str(folder), PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run(command(*words), cwd=folder, env=variables, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout

    for words, gone in (("--help", "  blame "), ("list metrics", "\nfailure.")):
        assert gone in typed(ROOT, *words.split())
        assert gone not in typed(tmp_path, *words.split())


def test_a_wrong_place_in_an_installed_package_is_reported_when_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "other", "typo = quorum.typo.verb:verb\n", "quorum.things")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(offers("quorum.things")) == ["typo"]
    things: Registry[str] = Registry("thing", "things", "", "quorum.things", lambda: str)
    with pytest.raises(ModuleNotFoundError, match=r"quorum\.typo"):
        things.get("typo")


def test_the_command_imports_no_satellite_for_a_verb_of_the_core() -> None:
    probe = "import sys; from quorum.verbs.app import command_of; command_of('run'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], env=environment(), capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("quorum.verbs.")}
    assert "quorum.verbs.run" in loaded
    assert loaded <= {f"quorum.verbs.{name}" for name in ("app", "options", "run", "shorthand", "verb")}
