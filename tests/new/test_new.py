"""`quorum new` writes packages that are complete: they pass their own test, and the commands of their README run."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

from quorum import cli
from quorum.configuration.plugins import load_plugins
from quorum.new.package import COMMANDS, write_package
from quorum_base.user_errors import UserError
from tests.conftest import ROOT, command, environment, forked
from tests.docs.test_commands import commands

NAMES = {"world": "world", "mind": "chooser", "topology": "by_twos", "metric": "questions"}
"""A package of each kind; `world` is also the name of a module, and of many things in it."""
GROUPS = {"world": "env", "mind": "agents", "topology": "topology", "metric": "metrics.talk"}


def run(folder: Path, *words: str) -> str:
    """Run a program in a folder, with Quorum to import from, and see that it succeeds."""
    variables = environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


def quorum(folder: Path, *words: str, path: str = "") -> str:
    """Run a command in a folder, with a further path to import from, and see that it succeeds."""
    done = forked(words, folder, environment(PYTHONPATH=f"{ROOT}:{path}"))
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


def quorum_anew(folder: Path, *words: str, path: str = "") -> str:
    """Run a command in its own Python process, whose workers have looked for no metrics of installed packages yet."""
    variables = environment(PYTHONPATH=f"{ROOT}:{path}")
    return subprocess.run(command(*words), cwd=folder, env=variables, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module", params=NAMES)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Path]:
    """Return a kind, a name, and the folder of a package that the command has written."""
    kind, name = request.param, NAMES[request.param]
    folder = tmp_path_factory.mktemp(kind)
    shown = quorum(folder, "new", kind, name)
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
        quorum(folder, *shlex.split(line)[1:])
    options = lines[0][lines[0].index("--plugin") :]
    listed = quorum(folder, "list", GROUPS[kind], *options.split())
    assert f"talk.{name} " in listed if kind == "metric" else f"\n  {name} " in listed


def installed(folder: Path, place: Path) -> str:
    """Install a package as an editable installation leaves it; return what `PYTHONPATH` needs."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = place / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    points = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items()) for group, rows in groups
    )
    (info / "entry_points.txt").write_text(points)
    return f"{folder}:{place}"


def test_an_installed_package_needs_no_flag_and_may_have_one(tmp_path: Path) -> None:
    path = ":".join(installed(write(kind, name, tmp_path), tmp_path) for kind, name in NAMES.items())
    for kind, name in NAMES.items():
        quorum(tmp_path, *shlex.split(COMMANDS[kind][0].format(name=name))[1:], path=path)
    line = shlex.split(COMMANDS["mind"][0].format(name=NAMES["mind"]))[1:]
    quorum(tmp_path, *line, "--plugin", NAMES["mind"], path=path)
    for kind, name in NAMES.items():
        listed = quorum(tmp_path, "list", GROUPS[kind], path=path)
        assert f"talk.{name} " in listed if kind == "metric" else f"\n  {name} " in listed


def test_components_of_three_packages_combine_in_all_verbs_without_a_flag(tmp_path: Path) -> None:
    """Workers find them as the command does; a recorded run, a branch of it and a comparison need no flag either."""
    names = {"world": "hatches", "topology": "twos", "metric": "asked"}
    path = ":".join(installed(write(kind, name, tmp_path), tmp_path) for kind, name in names.items())
    words = ("env=hatches", "n=3", "topology=twos", "agents=naive", "max_steps=6")

    def typed(*words: str) -> str:
        return quorum(tmp_path, *words, path=path)

    sweep = ("sweep", *words, "seed=0,1", "env.doors=2,3", "engine.workers=2", "--name", "s")
    quorum_anew(tmp_path, *sweep, path=path)
    assert "talk.asked" in typed("results", "runs/s", "--csv")
    typed("compare", "runs/s", "--by", "env.doors", "--metric", "talk.asked")
    typed("check", "runs/s")
    cell = next(path.parent.name for path in tmp_path.glob("runs/s/*/meta.json"))
    typed("branch", f"runs/s/{cell}", "--at", "0", "--mind", "agent_0=heuristic", "--name", "b")
    typed("show", *words)


def write(kind: str, name: str, out: Path) -> Path:
    write_package(kind, name, out)
    return out / name


def test_flags_may_be_repeated_and_name_paths_and_a_resumed_command_repeats_them(tmp_path: Path) -> None:
    for kind, name in {"world": "gates", "topology": "couples"}.items():
        write(kind, name, tmp_path / "own")
    for folder, option in {"one": "env", "two": "topology"}.items():
        (tmp_path / folder / option).mkdir(parents=True)
    (tmp_path / "two" / "topology" / "odd.yaml").write_text("name: couples\nfirst: odd\n")
    flags = ["--plugin", "own/gates/gates", "--plugin", "own/couples/couples"]
    flags += ["--config-dir", "one", "--config-dir", "two"]
    words = ("sweep", "env=wide", "env.name=gates", "topology=odd", "agents=naive", "n=2", "max_steps=3", "seed=0,1")
    (tmp_path / "one" / "env" / "wide.yaml").write_text("name: gates\nn: ${n}\ndoors: 1\nmax_steps: ${max_steps}\n")
    words = (*words, "--name", "s", "--limit", "1", *flags)
    first = forked(words, tmp_path, environment(PYTHONPATH=str(ROOT)))
    assert first.returncode == 0
    again = next(line for line in first.stderr.splitlines() if "quorum sweep" in line)
    typed = shlex.split(again[again.index("quorum sweep") :])
    assert [word for word in typed if word in flags] == flags
    quorum(tmp_path, *typed[1:])
    assert len(list(tmp_path.glob("runs/s/*/meta.json"))) == 2


def test_a_module_of_one_file_carries_the_options_next_to_it(tmp_path: Path) -> None:
    package = write("topology", "rows", tmp_path / "packages") / "rows"
    own = tmp_path / "own"
    own.mkdir()
    (own / "rows.py").write_text(
        (package / "topology.py").read_text()
        + "\nfrom quorum.configuration.registry import topologies\ntopologies.register('rows', component)\n"
    )
    (package / "configs").rename(own / "configs")
    quorum(tmp_path, "run", "topology=rows", "agents=negotiator", "n=2", "max_steps=3", "--plugin", "own/rows.py")


def refusal(folder: Path, *words: str, path: str = "") -> str:
    done = forked(words, folder, environment(PYTHONPATH=f"{ROOT}:{path}"))
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "Traceback" not in done.stderr
    return done.stderr


def test_the_error_names_the_flag_that_is_missing(tmp_path: Path) -> None:
    folder = write("world", "arches", tmp_path)
    bare = write("topology", "bare", tmp_path) / "bare"
    shutil.move(bare / "configs", tmp_path / "moved")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "json.py").touch()
    moved = ("--config-dir", "moved")
    assert "add --plugin MODULE or install its package" in refusal(tmp_path, "run", "env=arches")
    assert "no topology is called 'bare'" in (reported := refusal(tmp_path, "run", "topology=bare", *moved))
    assert "--plugin MODULE" in reported
    reported = refusal(tmp_path, "run", "topology=bare", "--plugin", "bare/bare")
    assert "write DIR/topology/bare.yaml and add --config-dir DIR" in reported
    assert "Give the package in it: --plugin arches/arches." in refusal(tmp_path, "run", "--plugin", "arches/")
    assert "Give its path" in refusal(folder.parent, "run", "--plugin", "arces")
    assert "there is no module here" in refusal(tmp_path, "run", "--plugin", "./arces.py")
    assert "Python finds another module of this name" in refusal(tmp_path, "run", "--plugin", "own/json.py")
    assert "--config-dir nowhere: no such folder" in refusal(tmp_path, "run", *moved, "--config-dir", "nowhere")


def test_an_option_of_an_installed_package_replaces_none_of_ours(tmp_path: Path) -> None:
    folder = write("topology", "sly", tmp_path)
    own = folder / "sly" / "configs"
    shutil.copy(own / "topology" / "sly.yaml", own / "topology" / "debate.yaml")
    (own / "llm").mkdir()
    (own / "llm" / "simulated.yaml").write_text("name: random\n")
    path = installed(folder, tmp_path)
    words = ("show", "topology=debate", "agents=naive", "agents.members.agent_0=naive")
    assert quorum(tmp_path, *words, path=path) == quorum(tmp_path, *words)


def test_a_broken_option_of_an_installed_package_is_one_message(tmp_path: Path) -> None:
    folder = write("topology", "torn", tmp_path)
    (folder / "torn" / "configs" / "topology" / "torn.yaml").write_text("name: [\n")
    path = installed(folder, tmp_path)
    for words in (("run", "topology=torn"), ("list", "topology")):
        assert "it is not valid YAML" in refusal(tmp_path, *words, path=path)
    quorum(tmp_path, "run", "max_steps=2", path=path)


def test_a_recorded_run_imports_no_package_that_lies_next_to_it(tmp_path: Path) -> None:
    """An untrusted folder holds a run and the package of its world, which only `--plugin` may import."""
    folder = write("world", "traps", tmp_path)
    quorum(tmp_path, "run", "env=traps", "n=2", "max_steps=3", "--plugin", "traps/traps")
    with (folder / "traps" / "__init__.py").open("a") as module:
        module.write("\nimport pathlib\npathlib.Path(__file__).with_name('imported').touch()\n")
    recorded = next(tmp_path.glob("runs/*/meta.json")).parent
    for place in (tmp_path, folder):
        for verb in ("results", "check", "replay", "show"):
            forked((verb, str(recorded)), place, environment(PYTHONPATH=str(ROOT)))
    assert not (folder / "traps" / "imported").exists()


@pytest.mark.conformance
def test_pip_installs_a_package_whose_world_needs_no_flag(tmp_path: Path) -> None:
    """As the guide has it: `quorum new`, `pip install -e`, and no flag from then on."""
    venv.create(tmp_path / "venv", system_site_packages=False, with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    own = [sysconfig.get_path("purelib"), str(ROOT)]
    (site / "outer.pth").write_text("\n".join(own) + "\n")
    for kind, name in NAMES.items():
        folder = write(kind, name, tmp_path)
        pip = (str(python), "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "-q", "-e")
        run(tmp_path, *pip, str(folder))
    for kind, name in NAMES.items():
        words = COMMANDS[kind][0].format(name=name).split()[1:]
        run(tmp_path, str(python), "-m", "quorum", *words)
    topologies = "topology=by_twos,debate"
    words = ("sweep", "env=world", topologies, "agents=naive", "n=2", "max_steps=4", "seed=0,1", "--name", "s")
    run(tmp_path, str(python), "-m", "quorum", *words)
    run(tmp_path, str(python), "-m", "quorum", "compare", "runs/s", "--by", "topology", "--metric", "talk.questions")


MISTAKES = {
    ("wrld", "doors"): "new wrld: there is no such kind\nDid you mean 'world'? Kinds: world, mind, topology, metric.",
    (
        "world",
        "My-Doors",
    ): "new world My-Doors: a name is lowercase letters and digits, with single underscores",
    ("world", "../doors"): "new world ../doors: a name is lowercase",
    ("world", "doors_"): "new world doors_: a name is lowercase",
    ("world", "lambda"): "new world lambda: this is a Python keyword\nChoose another name.",
    ("world", "cube"): "new world cube: a world of this name already exists\nChoose another name.",
    ("world", "cube_coop2"): "new world cube_coop2: a world of this name already exists",
    ("mind", "naive"): "new mind naive: a mind of this name already exists",
    ("topology", "debate"): "new topology debate: a topology of this name already exists",
    ("metric", "echoes"): "new metric echoes: Python finds another module of this name",
    ("world", "random"): "new world random: Python finds another module of this name",
    ("mind", "numpy"): "new mind numpy: Python finds another module of this name",
    ("world", "doors", "--out", "file"): "doors: cannot be written: File exists\nGive another folder: --out.",
    ("world", "a" * 300): "cannot be written: File name too long",
    ("world", "there"): "new world there: there already exists\nChoose another name, or another folder: --out.",
    ("world", "dangling"): "new world dangling: dangling already exists",
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
        UserError,
        match=r"--plugin far_doors: far_doors is a folder without an __init__\.py\n.*--plugin far_doors/far_doors",
    ):
        load_plugins(["far_doors"])
