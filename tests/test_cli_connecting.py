"""A server that cannot be reached, as a user meets it: one message before anything runs, and nothing left on disk."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from tests.conftest import Quorum
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 0}))


def _words(url: str) -> list[str]:
    model = ["llm=openai", f"llm.base_url={url}", "llm.model=simulated", "llm.api_key_env=null"]
    return ["agents=naive", "n=2", "max_steps=3", *model]


@pytest.fixture
def closed() -> str:
    """Host and port where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("verb", ["run", "sweep"])
def test_without_a_server_a_command_ends_at_once_with_its_address_and_leaves_nothing(
    verb: str, closed: str, quorum: Quorum, tmp_path: Path
) -> None:
    words = _words(f"http://{closed}/v1")
    done = quorum(verb, *words, *(["seed=0,1", "--budget-calls", "9"] if verb == "sweep" else ["--quiet"]))
    assert done.returncode == 2
    expected = (
        f"error: llm: no connection to {closed}: the connection was refused\n"
        f"Is a server running at http://{closed}/v1? Its address is llm.base_url.\n"
    )
    assert expected in done.stderr
    assert [path for path in (tmp_path / "runs").rglob("*") if path.is_file()] == []


def test_a_run_that_the_cache_answers_needs_no_server(quorum: Quorum) -> None:
    with served(BRAIN) as addresses:
        words = _words(addresses.openai)
        assert quorum("run", *words, "--quiet").returncode == 0
    assert quorum("run", *words, "--quiet").returncode == 0
    assert quorum("sweep", *words, "--budget-calls", "9", "--quiet").returncode == 0


WRONG = {
    "certificates": ({"SSL_CERT_FILE": "gone.pem"}, "SSL_CERT_FILE names gone.pem, which does not exist"),
    "SOCKS": ({"ALL_PROXY": "socks://127.0.0.1:9", "NO_PROXY": ""}, "ALL_PROXY names a SOCKS proxy"),
    "proxy": (
        {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""},
        "the proxy 127.0.0.1:9 (HTTP_PROXY): the connection was refused",
    ),
}


@pytest.mark.parametrize("verb", ["run", "sweep", "check"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_variable_that_is_wrong_is_named_before_any_cell_runs(wrong: str, verb: str, quorum: Quorum) -> None:
    variables, said = WRONG[wrong]
    done = quorum(verb, *_words("http://127.0.0.1:8/v1"), **variables)
    shown = " ".join((done.stdout + done.stderr).split())
    assert said in shown
    assert "Traceback" not in shown
    assert done.returncode == (1 if verb == "check" else 2)
