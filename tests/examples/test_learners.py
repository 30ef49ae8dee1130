"""The recipes for learners run, each where its packages are installed: `pip install 'quorum-harness[learners]'`."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT, command, environment

RECIPES = ROOT / "examples" / "learners"


def run(recipe: str, *arguments: str, needs: tuple[str, ...]) -> str:
    """Return what a recipe prints."""
    missing = [package for package in needs if find_spec(package) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: pip install 'quorum-harness[learners]'")
    words = [sys.executable, str(RECIPES / recipe), *arguments]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
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


@pytest.mark.parametrize(
    ("world", "iterations", "gain", "team"),
    [
        ("cube", 40, 0.3, ("n=2",)),
        ("foraging", 16, 0.2, ("env=foraging", "n=2", "env.foods=2", "env.coop=true")),
    ],
)
def test_ppo_learns_and_what_it_learned_plays(
    world: str, iterations: int, gain: float, team: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "learned.npz"
    words = ("--world", world, "--iterations", str(iterations), "--out", str(file))
    printed = run("ppo.py", *words, needs=("torch", *(("lbforaging",) if world == "foraging" else ())))
    curve = list(csv.DictReader(printed.splitlines()))
    assert float(curve[-1]["return"]) > float(curve[0]["return"]) + gain
    words = ("agents=policy", f"agents.path={file}", *team, "max_steps=20", "--json", "--out", str(tmp_path / "runs"))
    done = subprocess.run(command("run", *words), env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] in ("success", "truncated")
