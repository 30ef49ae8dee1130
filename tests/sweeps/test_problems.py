"""A sweep reports what is wrong with each kind of its cells before it writes anything, in one list."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.episode import preflight
from quorum.episode.model_pool import ModelPool
from quorum.episode.preflight import Preflight
from quorum.sweeps import problems
from quorum.sweeps.command import run_sweep_command, show_plan
from quorum.sweeps.plan import plan
from quorum.sweeps.run import SweepRequest
from quorum_base.user_errors import UserError
from tests.sweeps.conftest import Sweep

CUBE = ("n=2", "max_steps=2")


@pytest.fixture
def reported(tmp_path: Path) -> Callable[..., str]:
    """Give the message with which a sweep is refused; nothing may be left of it."""

    def refused(*words: str) -> str:
        out = tmp_path / "runs"
        messages = []
        for ask in (show_plan, lambda request: run_sweep_command(request, quiet=True)):
            with pytest.raises(UserError) as caught:
                ask(SweepRequest(words, out))
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
        assert not out.exists()
        return messages[0]

    return refused


MISTAKES = {
    ("agents=heuristic,llamac", "topology=individual"): "agents=llamac: agents: agents=llamac needs a coordinator, but",
    ("agents=naive,heuristic", "agents.max_actions=3"): "agents=heuristic: agents.max_actions: there is no such key",
    ("agents=naive", "llm=simulated,openai"): "llm=openai: llm.model: missing mandatory value",
    ("agents=naive,heuristic", "llm=replay", "llm.run=nowhere"): "agents=naive: llm.run: nowhere",
    ("env.blocks={1: 1},{3: 1}",): "env.blocks={3:1}: env.blocks: a block of weight 3 needs 3 agents at once",
    ("agents=naive,heuristic", "prompts.folder=mine"): "agents=naive: prompts: a template cannot be filled in",
}


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_one_kind_that_cannot_be_run_is_named_with_the_words_that_lead_to_it(
    words: tuple[str, ...], reported: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "turn.jinja").write_text("{{ nothing }}")
    monkeypatch.chdir(tmp_path)
    message = reported(*CUBE, *words, "seed=0,1")
    assert message.startswith("2 of 4 cells cannot be run: ")
    assert MISTAKES[words] in message
    assert message.endswith("\n--skip-invalid runs the others.")


def test_a_missing_key_is_reported_before_a_run_and_a_forecast_does_without(tmp_path: Path) -> None:
    model = ("llm=vllm", "llm.model=a", "llm.api_key_env=NO_SUCH_KEY")
    request = SweepRequest((*CUBE, "agents=naive,heuristic", *model), tmp_path / "runs")
    with pytest.raises(UserError, match=r"^1 of 2 cells cannot be run: agents=naive: llm: no key: .*NO_SUCH_KEY"):
        run_sweep_command(request, quiet=True)
    assert len(show_plan(request).cells) == 2
    assert not (tmp_path / "runs").exists()


def test_all_kinds_that_cannot_be_run_are_reported_in_one_list(reported: Callable[..., str]) -> None:
    words = ("agents=heuristic,llamac,cmas", "topology=individual", "env.blocks={1: 1},{3: 1}", "seed=x,0,1")
    head, *lines, last = reported(*CUBE, *words).splitlines()
    assert head == "16 of 18 cells cannot be run:"
    assert [line.partition(": ")[2][:25] for line in lines] == [
        "seed: 'x' is not a whole ",
        "env.blocks: a block of we",
        "agents: agents=llamac nee",
        "agents: agents=cmas needs",
    ]
    assert last == "--skip-invalid runs the others."


def test_a_mistake_of_every_cell_is_reported_as_that_of_one_run(reported: Callable[..., str]) -> None:
    with pytest.raises(UserError) as alone:
        asyncio.run(Preflight(ModelPool()).at(Cell.compose([*CUBE, "agents=llamac"])))
    assert reported(*CUBE, "agents=llamac", "seed=0,1") == str(alone.value)


def test_skip_invalid_runs_the_others_and_the_same_words_resume_them(tmp_path: Path) -> None:
    words = (*CUBE, "agents=heuristic,llamac", "topology=individual", "seed=0,1", "engine.workers=1")
    for before, now in ((0, 2), (2, 0)):
        result = run_sweep_command(SweepRequest(words, tmp_path, skip_invalid=True), quiet=True)
        assert (result.planned, result.before, len(result.finished), result.left) == (2, before, now, 0)
    (notice,) = show_plan(SweepRequest(words, tmp_path, skip_invalid=True)).notices
    assert notice.startswith("skipped: 2 of 4 cells cannot be run: agents=llamac: ")
    with pytest.raises(UserError, match="needs a coordinator"):
        run_sweep_command(SweepRequest((*CUBE, "agents=llamac"), tmp_path, skip_invalid=True), quiet=True)


def test_one_cell_of_each_kind_is_looked_at_and_none_of_a_kind_that_has_run(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    look = Preflight.at

    async def counting(self: Preflight, cell: Cell) -> None:
        looked.append(cell.name.rpartition("-s")[0])
        await look(self, cell)

    monkeypatch.setattr(preflight.Preflight, "at", counting)
    sweep("agents=walker", "n=1,2", "seed=range(0,3)", "memory.messages=1,2", limit=1)
    assert looked == ["corridor-n1-walker-individual", "corridor-n2-walker-individual"]
    sweep("agents=walker", "n=1,2", "seed=range(0,5)", "memory.messages=1,2", limit=1)
    assert looked[2:] == ["corridor-n1-walker-individual", "corridor-n2-walker-individual"]
    sweep("agents=walker", "n=1", "seed=range(0,9)", "memory.messages=1", limit=1)
    assert len(looked) == 4


def test_what_fails_in_an_episode_is_the_episodes_to_tell(sweep: Sweep) -> None:
    assert len(sweep("agents=walker", "n=1", "agents.fails_at=1").failed) == 1


def test_a_look_asks_nobody_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SOME_KEY", "value")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"llm.base_url=http://127.0.0.1:{server.getsockname()[1]}"
        words = ("agents=naive", "llm=vllm", "llm.model=a", "llm.api_key_env=SOME_KEY", address)
        plan([*CUBE, *words, "llm.cache=true"]).checked(tmp_path / "s", skip_invalid=False)
        connection, _ = server.accept()
        with connection:
            assert connection.recv(1) == b""  # it was connected to, and nothing was sent
    assert list(tmp_path.iterdir()) == []


def test_a_long_list_is_cut() -> None:
    found = problems.Problems()
    for number in range(30):
        found.add(f"n={number}", UserError(f"n: {number}"))
    lines = problems.listing(found.found, 60).splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("30 of 60 cells cannot be run:", "  ... and 10 more", 22)
