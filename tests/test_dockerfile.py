"""The image installs what the wheel has, and does not run as root. A machine with a builder also builds it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib

import pytest
from packaging.specifiers import SpecifierSet

from tests.conftest import ROOT

LINES = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def arguments(instruction: str) -> list[str]:
    """Return the arguments of every line with an instruction."""
    return [line.split(maxsplit=1)[1] for line in LINES if line.startswith(f"{instruction} ")]


def test_the_image_gets_every_part_of_the_wheel_and_only_files_that_exist() -> None:
    sources = {name for words in arguments("COPY") for name in words.split()[:-1]}
    assert {*PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]} <= sources
    ignored = set((ROOT / ".dockerignore").read_text("utf-8").split())
    assert [name for name in sources if not (ROOT / name).exists() or name in ignored] == []
    assert any("-c constraints.txt ." in words for words in arguments("RUN"))


def test_the_image_has_a_python_that_will_do_and_a_user_who_is_not_root() -> None:
    (base,) = arguments("FROM")
    found = re.fullmatch(r"python:(\d+\.\d+)-slim", base)
    assert found is not None
    assert found[1] in SpecifierSet(PROJECT["project"]["requires-python"])
    assert arguments("USER")[-1] not in {"root", "0"}
    assert arguments("ENTRYPOINT") == ['["quorum"]']


@pytest.mark.conformance
def test_a_builder_builds_the_image_and_its_command_runs() -> None:
    builder = next((name for name in ("docker", "podman") if shutil.which(name)), None)
    if builder is None or subprocess.run([builder, "info"], capture_output=True, check=False).returncode:
        pytest.skip("no docker or podman runs here")
    subprocess.run([builder, "build", "--quiet", "--tag", "quorum-test", "."], cwd=ROOT, check=True)
    done = subprocess.run(
        [builder, "run", "--rm", "quorum-test", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("quorum ")
