"""`quorum new` writes packages that are complete: they pass their own test, and the commands of their README run."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from maeil.user_errors import UserError
from quorum import cli
from quorum.experiments.configuration.plugins import load_plugins
from quorum.experiments.new.package import COMMANDS, write_package
from tests.conftest import ROOT, command, environment
from tests.docs.test_commands import commands

NAMES = {"world": "world", "mind": "chooser", "topology": "by_twos", "metric": "questions"}
"""A package of each kind; `world` is also the name of a module, and of many things in it."""
GROUPS = {"world": "env", "mind": "agents", "topology": "topology", "metric": "metrics.talk"}


def run(folder: Path, *words: str, path: str = "") -> str:
    """Run a program in a folder, with Quorum and a further path to import from, and see that it succeeds."""
    variables = environment(PYTHONPATH=f"{ROOT}:{path}")
    done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module", params=NAMES)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Path]:
    """Return a kind, a name, and the folder of a package that the command has written."""
    kind, name = request.param, NAMES[request.param]
    folder = tmp_path_factory.mktemp(kind)
    shown = run(folder, *command("new", kind, name))
    assert shown.startswith(f"{name} is complete. Try it:\n  cd {name}\n  pytest\n  quorum ")
    assert [path.name for path in folder.iterdir()] == [name]
    return kind, name, folder / name


def test_a_package_passes_its_own_test(package: tuple[str, str, Path]) -> None:
    run(package[2], sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")


def test_a_package_keeps_our_own_rules_of_style(package: tuple[str, str, Path]) -> None:
    ruff, settings = [sys.executable, "-m", "ruff"], ["--no-cache", "--config", str(ROOT / "pyproject.toml"), "."]
    run(package[2], *ruff, "check", "--extend-ignore", "ARG", *settings)  # contracts have arguments that not all need
    run(package[2], *ruff, "format", "--check", *settings)


def test_the_commands_of_its_readme_run_and_list_shows_it(package: tuple[str, str, Path]) -> None:
    kind, name, folder = package
    lines = commands((folder / "README.md").read_text(encoding="utf-8"))
    assert len(lines) == len(COMMANDS[kind])
    for line in lines:
        run(folder, *command(*shlex.split(line)[1:]))
    options = lines[0][lines[0].index("--plugin") :]
    listed = run(folder, *command("list", GROUPS[kind], *options.split()))
    assert f"talk.{name} " in listed if kind == "metric" else f"\n  {name} " in listed


def test_an_installed_package_needs_no_plugin_and_may_have_one(package: tuple[str, str, Path], tmp_path: Path) -> None:
    """As an installer leaves it: the entry points of its pyproject.toml, and a path to its folder."""
    kind, name, folder = package
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    points = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items()) for group, rows in groups
    )
    (info / "entry_points.txt").write_text(points)
    line = shlex.split(COMMANDS[kind][0].format(name=name))[1:]
    configs = ["--config-dir", str(folder / name / "configs")] if kind != "metric" else []
    for plugin in ([], ["--plugin", name]):
        run(tmp_path, *command(*line, *configs, *plugin), path=f"{folder}:{tmp_path}")


MISTAKES = {
    ("wrld", "doors"): "new wrld: there is no such kind\nDid you mean 'world'? Kinds: world, mind, topology, metric.",
    (
        "world",
        "My-Doors",
    ): "new world My-Doors: a name is lowercase letters and digits, with single underscores",
    ("world", "../doors"): "new world ../doors: a name is lowercase",
    ("world", "doors_"): "new world doors_: a name is lowercase",
    ("world", "lambda"): "new world lambda: this is a word of Python\nTake another name.",
    ("world", "cube"): "new world cube: there is a world of this name already\nTake another name.",
    ("world", "cube_coop2"): "new world cube_coop2: there is a world of this name already",
    ("mind", "naive"): "new mind naive: there is a mind of this name already",
    ("topology", "debate"): "new topology debate: there is a topology of this name already",
    ("metric", "echoes"): "new metric echoes: Python finds another module of this name",
    ("world", "random"): "new world random: Python finds another module of this name",
    ("mind", "numpy"): "new mind numpy: Python finds another module of this name",
    ("world", "doors", "--out", "file"): "doors: cannot be written: File exists\nGive another folder: --out.",
    ("world", "a" * 300): "cannot be written: File name too long",
    ("world", "there"): "new world there: there exists already\nTake another name, or another folder: --out.",
    ("world", "dangling"): "new world dangling: dangling exists already",
}


@pytest.mark.parametrize("words", MISTAKES, ids=lambda words: "-".join(words)[:40])
def test_a_mistake_is_one_message_and_writes_nothing(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("there").mkdir()
    Path("dangling").symlink_to("nowhere")
    monkeypatch.setattr(sys, "argv", ["quorum", "new", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert MISTAKES[words] in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dangling", "file", "there"]


def test_a_package_that_cannot_be_finished_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(UserError, match="doors: cannot be written: No space left on device"):
        write_package("world", "doors", tmp_path / "new" / "folder")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_package_is_no_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone types a command one folder too high, where Python would import the folder as an empty package."""
    write_package("world", "far_doors", tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UserError, match=r"--plugin far_doors: far_doors is a folder without an __init__\.py\n.*cd far_doors"
    ):
        load_plugins(["far_doors"])
