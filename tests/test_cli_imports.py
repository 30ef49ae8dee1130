"""`--help` and `list` stay fast: nothing heavy is loaded by them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment

HEAVY = {
    "anthropic", "av", "cube_env", "duckdb", "google", "gymnasium", "hydra", "jinja2", "litellm", "matplotlib", "numba",
    "numpy", "omegaconf", "openai", "opensimplex", "orjson", "pettingzoo", "PIL", "ray", "rich", "starlette", "uvicorn",
    "yaml",
}  # fmt: skip
PROBE = """
import sys
from pathlib import Path
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
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["list"], ["list", "env"], ["--version"]], ids=" ".join
)
def test_nothing_heavy_is_loaded(arguments: list[str]) -> None:
    loaded = _modules(*arguments)
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    light = {"quorum_base.exits", "maeil.outcomes", "quorum_base.registry", "quorum_base.user_errors"}
    assert {name for name in loaded if name.startswith("maeil.")} <= light


def test_the_help_does_without_pydantic() -> None:
    assert "pydantic" not in _modules("--help")


def test_the_probe_sees_what_is_loaded() -> None:
    assert {"hydra", "numpy", "maeil.world"} <= _modules("show")


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (
            ["agents=heuristic"],
            ("quorum.agents.llm.providers", "quorum.more_providers.batches", "quorum.agents.simulated.model"),
        ),
        (
            ["agents=naive"],
            ("quorum.agents.llm.providers", "quorum.more_providers.batches", "quorum.more_providers.serving"),
        ),
    ],
    ids=["without models", "with the simulated model"],
)
def test_a_run_loads_no_provider_and_no_http_that_it_does_not_use(
    arguments: list[str], absent: tuple[str, ...], tmp_path: Path
) -> None:
    loaded = _modules("run", "n=2", "max_steps=1", "--json", "--out", str(tmp_path / "run"), *arguments)
    assert {name for name in loaded if name.startswith(absent)} == set()
    assert (
        loaded & {"openai", "anthropic", "google.genai", "aiohttp", "httpx", "httpx2", "starlette", "uvicorn"} == set()
    )


def test_a_run_loads_few_modules(tmp_path: Path) -> None:
    loaded = _modules("run", "n=2", "max_steps=1", "--json", "--out", str(tmp_path / "run"))
    own = {name for name in loaded if name.partition(".")[0] in ("quorum", "maeil", "cube_env")}
    assert len(own) <= 320, "import it where it is used: each module costs a millisecond of every run"
    heavy = {"matplotlib", "PIL", "duckdb", "ray", "scipy.linalg", "crafter_env", "llamac_env"}
    assert loaded & heavy == set()
