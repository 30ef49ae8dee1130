"""A sweep by batches: the same results, every request sent once whenever it is killed, and half the money."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.records import request_key
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.schema import validate
from quorum.more_providers.batches.journal import BATCHES, BatchJournal, Orphans, orphans
from quorum.runs import as_csv, read_results
from quorum.sweeps.command import cancel_batches, run_sweep_command, show_plan
from quorum.sweeps.run import SweepRequest
from quorum_base.user_errors import UserError
from tests.composing import compose
from tests.conftest import PATIENCE, command, environment, one_each
from tests.loopback import Addresses, Batches
from tests.serving import served
from tests.sweeps.conftest import leftovers

BY_BATCH = ("engine=batch", "engine.wait=1", "engine.poll=0.1")
PLAIN = ("engine.workers=1",)
TEAM = ("agents=naive", "n=2", "max_steps=4")


@dataclass
class Counting:
    """The simulated model, and how often each request was asked."""

    model: SimulatedModel = field(
        default_factory=lambda: SimulatedModel(validate(compose(["llm=simulated"])).llm)  # type: ignore[arg-type]
    )
    asked: Counter[str] = field(default_factory=Counter)

    async def complete(self, request: Request) -> Reply:
        """Answer, and count."""
        self.asked[request_key(request)] += 1
        return await self.model.complete(request)


def words(wire: str, addresses: Addresses) -> tuple[str, ...]:
    """Give the words for a model behind a wire."""
    address = addresses.openai if wire == "openai" else addresses.anthropic
    own = (f"llm={wire}", f"llm.base_url={address}", "llm.model=simulated", "llm.api_key_env=null", "llm.cache=false")
    return (*TEAM, *own)


ALONE, DEBATE = "topology=individual", "topology=debate"
"""Few waves for each episode, and many: those who debate speak one after the other."""


@contextmanager
def plain_run(wire: str, out: Path, *more: str, batches: Batches | None = None) -> Iterator[tuple[Counting, Addresses]]:
    """Run a sweep without batches, and go on serving."""
    brain = Counting()
    with served(brain, batches=batches or Batches()) as addresses:
        run_sweep_command(SweepRequest((*words(wire, addresses), *more, *PLAIN), out=out, name="plain"), quiet=True)
        yield brain, addresses


def table(folder: Path) -> str:
    """Give the table of results."""
    return as_csv(read_results(folder))


@pytest.mark.parametrize("wire", ["openai", pytest.param("anthropic", marks=pytest.mark.conformance)])
def test_batches_change_no_result_and_halve_the_money(wire: str, tmp_path: Path) -> None:
    batches = Batches()
    prices = "llm.prices={input: 1, output: 10}"
    with plain_run(wire, tmp_path, ALONE, "seed=range(0,6)", prices, batches=batches) as (brain, addresses):
        once = Counter(brain.asked)
        by_batch = (*words(wire, addresses), ALONE, "seed=range(0,6)", prices, *BY_BATCH)
        report = run_sweep_command(SweepRequest(by_batch, out=tmp_path, name="s"), quiet=True)
    assert (report.left, report.failed) == (0, ())
    assert brain.asked == once + once
    assert batches.rows == once.total()
    plain, other = read_results(tmp_path / "plain"), read_results(tmp_path / "s")
    for one, two in zip(plain.rows, other.rows, strict=True):
        assert one.metrics["model.usd"] == pytest.approx(2 * two.metrics["model.usd"])  # type: ignore[operator]
        steps = "outcome.steps", "model.prompt_tokens", "model.completion_tokens", "model.answers"
        assert [one.metrics[name] for name in steps] == [two.metrics[name] for name in steps]
    first = next(iter(batches.made.values()))
    assert len(first.names) == 12  # six episodes, two agents: a wave is all that waits
    assert leftovers(tmp_path / "s") == [BATCHES] or leftovers(tmp_path / "s") == []


def kill_again_and_again(
    wire: str, tmp_path: Path, *, seeds: int, kill: Callable[[Sequence[str], Path], int], kills: int, wave: float = 0.3
) -> Counter[int]:
    """Kill a sweep and go on, again and again; give how often its process ended how.

    Args:
        wire: the format.
        tmp_path: where.
        seeds: number of episodes.
        kill: runs the command and kills it; gives how it ended.
        kills: how often.
        wave: seconds that each batch takes.
    """
    batches = Batches(seconds=wave)
    more = (DEBATE, f"seed=range(0,{seeds})")
    with plain_run(wire, tmp_path, *more, batches=batches) as (brain, addresses):
        once = Counter(brain.asked)
        asked = (*words(wire, addresses), *more, *BY_BATCH, "engine.size=64")
        line = command("sweep", *asked, "--name", "s", "--quiet", "--out", str(tmp_path))
        ends = Counter(kill(line, tmp_path / "s" / BATCHES) for _ in range(kills))
        assert run_sweep_command(SweepRequest(asked, out=tmp_path, name="s"), quiet=True).exit_code == 0
    assert brain.asked - once == once
    assert batches.rows == once.total()
    assert table(tmp_path / "s") == table(tmp_path / "plain")
    assert orphans(tmp_path / "s") == Orphans(0, 0)
    return ends


def _run_and_kill(line: Sequence[str], seconds: float, journal: Path, written: bytes = b"") -> int:
    """Run a command and kill it so many seconds after it has started to ask; return how it ended.

    It has started when its journal has grown, and holds what is named.
    """
    process = subprocess.Popen(line, env=environment())
    size = journal.stat().st_size if journal.exists() else 0
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if journal.exists() and journal.stat().st_size > size and written in journal.read_bytes():
            break
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return process.wait()


@pytest.mark.conformance
@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_a_sweep_that_is_killed_sends_every_request_once(wire: str, tmp_path: Path) -> None:
    draw = random.Random(5)

    def kill(line: Sequence[str], journal: Path) -> int:
        return _run_and_kill(line, draw.uniform(0.0, 1.0), journal)

    assert kill_again_and_again(wire, tmp_path, seeds=4, kill=kill, kills=2)[-signal.SIGKILL] >= 1


@pytest.mark.soak
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_two_hundred_episodes_killed_at_six_random_moments(wire: str, tmp_path: Path) -> None:
    draw = random.Random(5)

    def kill(line: Sequence[str], _: Path) -> int:
        process = subprocess.Popen(line, env=environment())
        time.sleep(draw.uniform(2.0, 7.0))  # its start, a wave that goes out, batches that are waited for or read
        process.send_signal(signal.SIGKILL)
        return process.wait()

    # three waves of 14 s: no machine is done with them before the sixth kill
    ends = kill_again_and_again(wire, tmp_path, seeds=200, kill=kill, kills=6, wave=14.0)
    assert ends == {-signal.SIGKILL: 6}


@pytest.mark.conformance
def test_open_batches_are_named_can_be_ended_and_are_asked_for_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = Batches(seconds=100.0)
    with served(Counting(), batches=batches) as addresses:
        asked = (*words("anthropic", addresses), ALONE, "seed=range(0,3)")
        line = command("sweep", *asked, *BY_BATCH, "--name", "s", "--quiet", "--out", str(tmp_path))
        _run_and_kill(line, 0.2, tmp_path / "s" / BATCHES, b'"created"')
        assert orphans(tmp_path / "s") == Orphans(0, 6)
        by_batch = SweepRequest((*asked, *BY_BATCH), out=tmp_path, name="s")
        assert cancel_batches(by_batch)["cancelled_batches"] == 1
        assert next(iter(batches.made.values())).cancelled
        shutil.copytree(tmp_path / "s", tmp_path / "without")
        run_sweep_command(SweepRequest((*asked, *PLAIN), out=tmp_path, name="without"), quiet=False)
        assert "6 requests are in batches whose answers were not read" in " ".join(capsys.readouterr().err.split())
        batches.seconds = 0.0
        assert run_sweep_command(by_batch, quiet=True).exit_code == 0
        assert BatchJournal(tmp_path / "s" / BATCHES).open == {}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            ("llm=simulated",),
            "llm=simulated has no batches\nUse one of these models: llm=openai, llm=openai_responses, llm=anthropic",
        ),
        (("llm=groq", "llm.model=m"), "llm=groq has no batches"),
        (("agents=heuristic",), "no cell uses a language model"),
        (("llm=openai", "llm.model=gpt-5", "llm.service_tier=flex"), "llm.service_tier=flex"),
        (("llm=openai", "llm.model=gpt-5", "limits.thought_seconds=60"), "limits.thought_seconds=60"),
    ],
    ids=range(5),
)
def test_what_cannot_go_by_batches_is_refused(more: tuple[str, ...], expected: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="engine=batch") as caught:
        show_plan(SweepRequest(tuple(one_each(*TEAM, ALONE, *more, *BY_BATCH)), out=tmp_path, name="s"))
    assert expected in str(caught.value)
    assert not (tmp_path / "s").exists()


@pytest.mark.conformance
def test_what_is_drawn_at_random_next_to_a_model_needs_no_batches(tmp_path: Path) -> None:
    request = SweepRequest((*TEAM, ALONE, "llm=random", "seed=0", *BY_BATCH), out=tmp_path, name="s")
    assert show_plan(request).tokens == 0
    assert run_sweep_command(request, quiet=True).exit_code == 0
