from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from quorum.agents.llm.errors import ConnectionLost
from quorum.agents.llm.prices import price_lists
from quorum.agents.llm.protocol import Finish, Reply, Usage
from quorum.agents.skills.cube.plans import Wording
from quorum.configuration.cell import Cell
from quorum.configuration.providers.config import ProviderConfig
from quorum.episode import checks
from quorum.episode.checks import check, price_findings
from quorum.episode.model_pool import model_hint
from quorum.episode.runner import run_cell
from quorum.installation.packages import Needed
from quorum.verbs.check import check as command
from quorum_base.user_errors import UserError


def _findings(*arguments: str, out: Path) -> dict[str, checks.Finding]:
    return {finding.subject: finding for finding in check(arguments, out, ())}


def test_a_sound_installation_passes_and_nothing_is_written(tmp_path: Path) -> None:
    found = _findings(out=tmp_path / "a" / "runs")
    assert [finding for finding in found.values() if finding.needed and not finding.fine] == []
    assert list(tmp_path.iterdir()) == []


def test_each_missing_extra_is_named_with_its_install_line(tmp_path: Path, monkeypatch) -> None:
    needed = (
        Needed("numpy", ">=99", "", "2.4.6", False),
        Needed("ray", ">=2.55", "ray", None, False),
        Needed("duckdb", ">=2.0", "analysis", "2.0.1", True),
    )
    monkeypatch.setattr(checks, "requirements", lambda: needed)
    found = _findings(out=tmp_path)
    assert found["[ray]"].detail == "without ray: pip install 'quorum-harness[ray]'"
    assert not found["[ray]"].needed
    assert found["[analysis]"].fine
    assert not found["numpy"].fine
    assert found["numpy"].needed
    assert "pip install 'numpy>=99'" in found["numpy"].detail


def test_what_cannot_run_is_reported_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = _findings("nn=8", out=tmp_path / "file" / "runs")
    assert "nothing can be written to" in found["--out"].detail
    assert "Did you mean 'n'?" in found["configuration"].detail
    assert not found["configuration"].fine
    assert not _findings("env.blocks={1: 300}", out=tmp_path)["configuration"].fine


VLLM = ("agents=naive", "llm=vllm", "llm.model=a")


@pytest.mark.parametrize(
    "words",
    [
        (*VLLM, "llm.api_key_env=NO_SUCH_KEY"),
        (*VLLM, "budget.usd=1"),
        ("agents=naive", "prompts.folder=mine"),
        ("agents=naive", "llm=simulated"),
    ],
    ids=" ".join,
)
def test_what_a_run_refuses_a_check_finds(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "turn.jinja").write_text("{{ nothing }}")
    monkeypatch.chdir(tmp_path)
    if "llm=simulated" in words:
        monkeypatch.setattr(Wording, "words", frozenset({"fly"}))
    with pytest.raises((UserError, ValueError)) as refused:
        run_cell(Cell.compose(["n=2", *words]), tmp_path / "runs")
    found = _findings("n=2", *words, out=tmp_path)["configuration"]
    assert not found.fine
    assert str(refused.value).partition("\n")[0] in found.detail


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ("llm=llamacpp", "Start it: llama-server -m FILE.gguf."),
        ("llm=ollama llm.model=a", "Start it: ollama serve."),
        ("llm=vllm llm.model=a", "Start it: vllm serve NAME."),
        ("llm=sglang llm.model=a", "Start it: python -m sglang.launch_server --model-path NAME."),
        ("llm=vllm llm.model=a llm.base_url=http://192.168.0.7:8000/v1", None),
        ("llm=llamacpp llm.base_url=http://127.0.0.1:8099/v1", None),
    ],
)
def test_a_server_on_this_machine_that_is_not_there_is_reported_with_what_starts_it(
    words: str, start: str | None
) -> None:
    config = Cell.compose([*words.split(), "agents=naive"]).configuration.llm_of("agent_0")
    hint = model_hint(ConnectionLost("refused"), config)
    reported = "" if start is None else f"{start} "
    assert hint == f"Is a server running at {config.address}? {reported}Its address is llm.base_url."


def test_the_lists_of_prices_are_shown_with_their_age_and_an_old_one_is_a_warning() -> None:
    (known,) = {one.date for one in price_lists().values()}
    day = date.fromisoformat(known)
    for days, fine in ((90, True), (91, False)):
        found = list(price_findings(day + timedelta(days)))
        assert [finding.subject for finding in found] == list(price_lists())
        assert {(finding.fine, finding.needed) for finding in found} == {(fine, False)}
        openai = next(finding.detail for finding in found if finding.subject == "openai")
        models = len(price_lists()["openai"].models)
        assert openai.startswith(f"{models} models, prices of {known} ({days} days old")
        assert ("llm.prices" in openai) is not fine
        assert "from developers.openai.com/api/docs/pricing, as in the price map of litellm" in openai


def test_the_command_lists_the_prices(capsys: pytest.CaptureFixture[str]) -> None:
    command([], prices=True, as_json=True)
    assert [line["subject"] for line in json.loads(capsys.readouterr().out)] == list(price_lists())


def test_a_model_that_answers_is_shown_with_the_age_of_its_price() -> None:
    config = Cell.compose(["agents=naive", "llm=openai", "llm.model=gpt-5-mini"]).configuration.llm_of("agent_0")
    assert isinstance(config, ProviderConfig)
    reply = Reply("{}", Finish.STOP, Usage(10, 5), 0.001, 1.0, "gpt-5-mini")
    day = price_lists()["openai"].date
    assert f"0.001 USD at prices of {day} (" in checks._found(config, reply)
    assert "days old" in checks._found(config, reply)
    assert "price unknown" in checks._found(config, replace(reply, usd=None))
