"""`--help` and `list` stay fast: nothing heavy is loaded by them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import environment

HEAVY = {
    "anthropic", "av", "cube_env", "duckdb", "gymnasium", "hydra", "jinja2", "litellm", "matplotlib", "numba",
    "numpy", "omegaconf", "openai", "opensimplex", "orjson", "pettingzoo", "PIL", "ray", "rich", "starlette", "uvicorn",
    "yaml",
}  # fmt: skip
PROBE = """
import sys
from quorum.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, file=sys.stderr)
"""


def _modules(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["list"], ["list", "env"], ["--version"]], ids=" ".join
)
def test_nothing_heavy_is_loaded(arguments: list[str]) -> None:
    assert _modules(*arguments) & HEAVY == set()


def test_the_help_does_without_pydantic() -> None:
    assert "pydantic" not in _modules("--help")


def test_the_probe_sees_what_is_loaded() -> None:
    assert {"hydra", "numpy", "maeil"} <= _modules("show")
