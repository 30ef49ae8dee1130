"""The packages that are imported by name load each name when it is used, and offer every name that they list."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from tests.conftest import environment

PACKAGES = ("cube_env", "crafter_env", "lbf_env", "llamac_env", "maeil", "overcooked_env")
HEAVY = {"gymnasium", "numba", "numpy", "ortools", "pettingzoo", "pydantic"}


def loaded(code: str) -> set[str]:
    """Return the heavy packages that are in memory after some code."""
    probe = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], env=environment(), capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()} & HEAVY


@pytest.mark.parametrize("name", PACKAGES)
def test_every_name_that_is_offered_is_there(name: str) -> None:
    package = importlib.import_module(name)
    assert package.__all__ == sorted(set(package.__all__)) == dir(package)
    assert all(getattr(package, offered) is not None for offered in package.__all__)


@pytest.mark.parametrize("name", PACKAGES)
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name} attribute qube"):
        _ = importlib.import_module(name).qube


@pytest.mark.parametrize(
    "code",
    [
        "import maeil, maeil.errors",
        "from cube_env import Action, WorldError, Scenario, curriculum; curriculum(8)",
        "from crafter_env import COLLECT, PROFILES, Action, WorldError",
        "from lbf_env import ForagingObservation, food_name",
        "from overcooked_env import KitchenObservation, pot_name",
        "from llamac_env import Colour, FailureCode, WorldError",
    ],
)
def test_light_names_load_nothing_heavy(code: str) -> None:
    assert loaded(code) == set()


def test_the_probe_sees_what_is_loaded() -> None:
    assert {"numpy", "numba", "pettingzoo"} <= loaded("from cube_env import CubeEnv")
