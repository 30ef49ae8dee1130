"""What an installation rests on."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from quorum_base.registry import own

ROOT = Path(__file__).resolve().parents[1]


def _constraints(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", pin) for pin in pins), "names and versions only"
    return {canonicalize_name(name): version for name, version in (pin.split("==") for pin in pins)}


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        ("constraints.txt", ["test", "dev", "gemini"]),
        ("constraints-others.txt", ["test", "litellm", "gemini", "learners", "mlflow", "wandb", "train"]),
    ],
)
def test_every_dependency_is_pinned_to_a_version_that_will_do(name: str, extras: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = _constraints(name)
    for line in [*project["dependencies"], *(line for e in extras for line in project["optional-dependencies"][e])]:
        requirement = Requirement(line)
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), line


def test_no_index_address_is_committed() -> None:
    files = [*(ROOT / ".ci").iterdir(), *ROOT.glob("constraints*.txt"), ROOT / "Makefile", ROOT / "pyproject.toml"]
    for file in files:
        assert not re.search(r"index-url|--find-links|https?://", file.read_text()), file


def test_the_wheel_has_every_package_under_its_own_name() -> None:
    """The names at the top of the checkout that others take, too, are links into `quorum`."""
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    links = {path.name for path in ROOT.iterdir() if path.is_symlink()} - {".venv"}
    assert links == {"agents", "cli.py", "configs", "prompts", "topologies"}
    assert all((ROOT / name).samefile(ROOT / "quorum" / name) for name in links)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"} - links
    assert packages | {"quorum_harness.py"} == {*targets["wheel"]["only-include"]}
    assert set(targets["wheel"]["only-include"]) <= set(targets["sdist"]["only-include"])


def test_what_the_folders_list_is_found_under_its_name_and_can_be_imported() -> None:
    lists = [json.loads(file.read_bytes()) for file in (ROOT / "quorum").rglob("components.json")]
    listed = [(group, *thing) for found in lists for group, things in found.items() for thing in things.items()]
    points = [point for group in {group for group, *_ in listed} for point in own(group).values()]
    assert sorted((point.group, point.name, point.value) for point in points) == sorted(listed)
    for point in points:
        point.load()
