"""The recipes for learners run, each where its packages are installed: `pip install 'quorum-harness[learners]'`."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.conftest import ROOT, environment

RECIPES = ROOT / "examples" / "learners"


def run(recipe: str, *arguments: str, needs: tuple[str, ...]) -> str:
    """Return what a recipe prints."""
    missing = [package for package in needs if find_spec(package) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: pip install 'quorum-harness[learners]'")
    command = [sys.executable, str(RECIPES / recipe), *arguments]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torchrl_checks_the_specs_and_rolls_out() -> None:
    printed = run("torchrl_rollout.py", needs=("torch", "torchrl"))
    lines = re.findall(r"^(.+): 120 steps, (\d+) episodes$", printed, re.MULTILINE)
    assert lines[:3] == [("cube", "2"), ("cube, flat", "2"), ("cube, egocentric", "2")]
    assert [name for name, _ in lines[3:]] == [
        *("crafter", "crafter, egocentric", "transport", "squeeze"),
        *("quorum/Cube-v0, 3 worlds", "quorum/Crafter-v0, 3 worlds", "quorum/Transport-v0, 3 worlds"),
    ]
    assert all(int(episodes) for _, episodes in lines)


def test_stable_baselines_learns_through_supersuit() -> None:
    printed = run("stable_baselines.py", "--steps", "5000", needs=("torch", "stable_baselines3", "supersuit"))
    # Whoever never gains has -1 in an episode at best. In so few steps the mean of all is as good as that by chance.
    found = re.findall(r"the last \d\d+ episodes: mean return (-?\d+\.\d+), best (-?\d+\.\d+)", printed)
    mean, best = map(float, found[0])
    assert -1.1 < mean < best
    assert best > -1.0


def test_ppo_learns() -> None:
    printed = run("ppo.py", "--iterations", "40", needs=("torch",))
    before, *_, after = (float(found) for found in re.findall(r"return (-?\d+\.\d+)", printed))
    assert after > before + 0.3
