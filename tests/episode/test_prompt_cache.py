"""Whole episodes whose prompts are kept by the provider: what is read, what it saves, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from maeil.trace import read_trace
from maeil.trace.events import ThoughtEnd
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Request, Sampling
from quorum.agents.llm.providers.anthropic import AnthropicModel
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.llm.recording import unfolded
from quorum.agents.prompting.marks import marks
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from tests.loopback.prompt_caches import unsent
from tests.serving import served

DEBATE = ("env=cube", "agents=naive", "topology=debate", "n=4", "max_steps=60")
PRICES = "{input: 2.0, output: 10.0, cached: 0.2, cache_write: 2.5}"
ROLES = ("topology=centralized", "topology.leader=coordinator", "topology.rounds=3")
DRWELL = ("agents=drwell", "topology=negotiation")
TEAMS = {
    **{name: ("agents=naive", f"topology={name}") for name in ("individual", "chain", "centralized", "decentralized")},
    **{name: (f"agents={name}", *ROLES) for name in ("llamac", "hmas2")},
}


def _play(folder: Path, model: str, **changes: str) -> Result:
    """Play the debate over HTTP in Anthropic's format, against a server that plays its prompt cache."""
    plain = dict.fromkeys(SimulatedSettings.model_fields, 0.0)
    brain = SimulatedModel(SimulatedSettings(**{**plain, "seed": 0}))
    with served(brain, prompt_cache=True) as addresses:
        values = {
            "base_url": addresses.anthropic, "model": model, "cache": "false", "api_key_env": "null", "prices": PRICES,
            "max_concurrency": "1", **changes,
        }  # fmt: skip
        return run_cell(Cell.compose([*DEBATE, "llm=anthropic", *(f"llm.{k}={v}" for k, v in values.items())]), folder)


def test_most_of_a_debates_prompts_is_read_from_the_cache_and_paid_as_such(tmp_path: Path) -> None:
    kept = _play(tmp_path / "kept", "claude-sonnet-5/simulated").metrics
    plain = _play(tmp_path / "plain", "claude-sonnet-5/simulated", prompt_cache="false").metrics
    assert kept["model.prompt_cache_share"] > 0.6
    assert plain["model.prompt_cache_share"] == plain["model.cache_written_tokens"] == 0
    assert kept["model.prompt_tokens"] == plain["model.prompt_tokens"]
    saved = kept["model.cached_tokens"] * 1.8e-6 - kept["model.cache_written_tokens"] * 0.5e-6
    assert kept["model.usd"] == pytest.approx(plain["model.usd"] - saved)
    assert kept["model.usd"] < 0.7 * plain["model.usd"]


@pytest.mark.parametrize("env", ["cube", "crafter_coop", "transport", "squeeze", "foraging", "overcooked"])
def test_talk_and_plan_of_a_step_begin_alike_up_to_the_end_of_what_is_seen(env: str, tmp_path: Path) -> None:
    words = (f"env={env}", "agents=naive", "topology=debate", f"n={2 if env == 'overcooked' else 3}", "max_steps=4")
    with (run_cell(Cell.compose(words), tmp_path).folder / "calls.jsonl").open("rb") as lines:
        calls = list(unfolded(lines))
    first: dict[tuple[str, int], str] = {}
    for call in calls:
        messages, who = call["request"]["messages"], (call["agent"], call["t"])
        seen = messages[1]["content"].index("</observation>")
        assert marks(messages[1]["content"])[-1] > seen
        begin = str(call["request"]["answer"]) + messages[0]["content"] + messages[1]["content"][:seen]
        assert first.setdefault(who, begin) == begin
    assert len(first) < len(calls)


def test_a_model_with_a_higher_minimum_keeps_nothing_of_short_prompts(tmp_path: Path) -> None:
    metrics = _play(tmp_path, "claude-haiku-4-5/simulated").metrics
    assert metrics["model.prompt_cache_share"] == metrics["model.cache_written_tokens"] == 0


def test_the_cache_changes_what_is_reported_for_tokens_and_money_alone(tmp_path: Path) -> None:
    def thoughts(folder: Path) -> list[Any]:
        trace = read_trace(folder / "trace.jsonl")
        counted = {"cached_tokens", "cache_written_tokens", "usd", "seconds"}
        return [
            [{key: value for key, value in call.items() if key not in counted} for call in thought.calls]
            for thought in trace.of(ThoughtEnd)
        ]

    runs = [_play(tmp_path / mode, "claude-sonnet-5/simulated", prompt_cache=mode) for mode in ("true", "false")]
    assert thoughts(runs[0].folder) == thoughts(runs[1].folder)


def test_whether_prompts_are_marked_is_no_part_of_a_cells_name() -> None:
    ways = [["llm=anthropic", "llm.model=x", f"llm.prompt_cache={way}"] for way in ("true", "false")]
    one, other = (Cell.compose([*DEBATE, *way]) for way in ways)
    assert one.hash == other.hash


def _texts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [block["text"] for block in content]


@pytest.mark.parametrize("env", ["cube", "crafter_coop", "transport", "squeeze", "foraging", "overcooked"])
async def test_no_prompt_has_more_breakpoints_than_there_may_be_and_none_loses_a_character(
    env: str, tmp_path: Path
) -> None:
    claude = AnthropicModel("claude-sonnet-5", base_url="https://api.anthropic.com", key_variable=None)
    gpt = OpenAIModel("gpt-6-sol", base_url="https://api.openai.com/v1", key_variable=None)
    for team in TEAMS.values():
        folder = run_cell(
            Cell.compose([f"env={env}", f"n={2 if env == 'overcooked' else 3}", "max_steps=4", *team]), tmp_path
        ).folder
        with (folder / "calls.jsonl").open("rb") as lines:
            calls = [call["request"] for call in unfolded(lines)]
        for call in calls:
            system, user = (message["content"] for message in call["messages"][:2])
            messages = (ChatMessage(ChatRole.SYSTEM, system), ChatMessage(ChatRole.USER, user, marks(user)))
            answer = AnswerFormat(call["answer"]["name"], call["answer"]["schema"])
            request = Request(messages, answer, Sampling(None, 512))
            body = await unsent(claude, request)
            contents = [body["system"], body["messages"][0]["content"]]
            assert ["".join(_texts(content)) for content in contents] == [system, user]
            assert all(text.strip() for content in contents for text in _texts(content))
            assert 1 <= str(contents).count("'cache_control': {'type': 'ephemeral'}") <= 4
            parts = [message["content"] for message in (await unsent(gpt, request))["messages"]]
            assert ["".join(_texts(content)) for content in parts] == [system, user]
            assert 1 <= str(parts).count("'prompt_cache_breakpoint': {'mode': 'explicit'}") <= 4
    await claude.close()
    await gpt.close()


@pytest.mark.parametrize("team", [*(("agents=" + name, *ROLES) for name in ("llamac", "hmas2")), DRWELL], ids=str)
def test_all_roles_of_a_team_have_one_form(team: tuple[str, ...], tmp_path: Path) -> None:
    folder = run_cell(Cell.compose(["env=cube", "n=4", "max_steps=10", *team]), tmp_path).folder
    with (folder / "calls.jsonl").open("rb") as lines:
        calls = list(unfolded(lines))
    assert len({call["role"] for call in calls}) > 1
    assert len({str(call["request"]["answer"]) for call in calls}) == 1
