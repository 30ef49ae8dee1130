"""Another distribution that installs a package or a command `quorum` is noticed before anything of it is imported."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import quorum_harness
from quorum.episode.checks import check
from tests.conftest import ROOT


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return a folder of packages with the entry point and the files that tell the package apart, as in a wheel."""
    shutil.copy(ROOT / "quorum_harness.py", tmp_path)
    (tmp_path / "quorum").mkdir()
    for name in ("__init__.py", "__main__.py"):
        shutil.copy(ROOT / "quorum" / name, tmp_path / "quorum" / name)
    (tmp_path / "quorum" / "cli.py").write_text('"""quorum-harness"""\ndef main(): print("ran")\n')
    (tmp_path / "quorum" / "__init__.py").write_text('"""quorum-harness"""\n')
    return tmp_path


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); from quorum_harness import main; main()"
    return subprocess.run([sys.executable, "-IS", "-c", program], capture_output=True, text=True, check=False)


def test_the_command_runs_where_nobody_else_has_installed_anything(installed: Path) -> None:
    done = run(installed)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")


@pytest.mark.parametrize("name", ["__init__.py", "cli.py"])
def test_a_replaced_file_ends_the_command_before_it_is_imported(installed: Path, name: str) -> None:
    (installed / "quorum" / name).write_text("raise SystemExit('the other one was imported')\n")
    done = run(installed)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"has installed {name} into" in done.stderr
    assert "virtual environment" in done.stderr
    assert "imported" not in done.stderr


def test_files_of_others_next_to_ours_are_one_warning(installed: Path) -> None:
    for name in ("acl.py", "amazon.py", "amqp.py", "base.py"):
        (installed / "quorum" / name).touch()
    done = run(installed)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr.startswith("warning: another distribution has installed acl.py, amazon.py, amqp.py and 1 more")
    assert done.stderr.count("\n") == 1


def test_the_checkout_holds_exactly_the_files_that_are_expected() -> None:
    assert quorum_harness.replaced_files(ROOT / "quorum") == []
    assert quorum_harness.added_files(ROOT / "quorum") == []


def test_check_names_the_other_distribution(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "quorum_cli-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: quorum-cli\nVersion: 1.0\n")
    (other / "RECORD").write_text("quorum/__init__.py,,\nquorum_cli-1.0.dist-info/METADATA,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    [finding] = [found for found in check([], tmp_path, ()) if found.subject == "module quorum"]
    assert not finding.fine
    assert "quorum-cli" in finding.detail
