"""Batches over real HTTP: what many ask at once goes out together, and nothing is paid for twice."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from quorum.agents.llm.errors import BadRequest, InfrastructureFailed
from quorum.agents.llm.prices import BATCH, price_table
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.more_providers.batches.journal import BATCHES, BatchJournal, Orphans, orphans
from quorum.more_providers.batches.waves import BatchConfig, Batched, Waves
from quorum_base.user_errors import UserError
from tests.agents.llm.wire import CANARY, SDKS, TEXT, Brain, client, reply, request, stack
from tests.conftest import PATIENCE
from tests.loopback import Addresses, Batches, RowFault, serve

RULES = BatchConfig(name="batch", size=None, bytes=None, wait=1.0, poll=0.01)
BOTH = pytest.mark.parametrize("wire", SDKS)


@asynccontextmanager
async def process(
    wire: str, addresses: Addresses, folder: Path, rules: BatchConfig = RULES, **arguments: Any
) -> AsyncIterator[tuple[Waves, Any]]:
    """Be one process of a sweep; gives its waves, and what makes the model of a cell."""
    waves = Waves(BatchJournal(folder / BATCHES, lambda cell: not (folder / cell).exists()), rules)
    provider = client(wire, addresses, **arguments)
    line = waves.line("the model", provider)

    def model(cell: str) -> Model:
        return stack(Batched(provider, line, cell, None), price=price_table()["openai", "gpt-5"])

    try:
        async with asyncio.timeout(PATIENCE):
            yield waves, model
    finally:
        await waves.close()
        await provider.close()


async def play(waves: Waves, model: Model, cell: str, *prompts: str) -> list[Reply]:
    """Be an episode that asks one thing after the other."""
    with waves.episode(cell):
        return [await model.complete(request(prompt)) for prompt in prompts]


def echo(asked: Request) -> str:
    """Answer by the prompt, so that no answer can be another's."""
    return TEXT.replace("ready", asked.messages[-1].content)


def moods(replies: list[Reply]) -> list[str]:
    """Give what `echo` has repeated."""
    return [found.value["mood"].removesuffix(" {to go}") for found in replies]


@BOTH
async def test_what_all_episodes_ask_at_once_is_one_batch_and_each_gets_its_own_answer(
    wire: str, tmp_path: Path
) -> None:
    batches = Batches()
    async with (
        serve(Brain(echo), batches=batches) as addresses,
        process(wire, addresses, tmp_path) as (waves, model),
    ):
        cells = [f"cell-{number}" for number in range(5)]
        outcomes = await asyncio.gather(*(play(waves, model(cell), cell, f"{cell}/1", f"{cell}/2") for cell in cells))
        status = waves.status()
    assert [moods(replies) for replies in outcomes] == [[f"{cell}/1", f"{cell}/2"] for cell in cells]
    assert [len(batch.names) for batch in batches.made.values()] == [5, 5]
    assert (status.waves, status.open, status.ended, status.answers, status.replayed) == (2, 0, 2, 10, 0)
    first = outcomes[0][0]
    price = price_table()["openai", "gpt-5"]
    assert (first.tier, first.attempts) == (BATCH, 1)
    assert first.usd == pytest.approx(price.usd(first.usage) / 2)


async def test_a_wave_waits_for_an_episode_that_thinks_longer_before_it_asks(tmp_path: Path) -> None:
    batches = Batches()
    patient = BatchConfig(name="batch", size=None, bytes=None, wait=10.0, poll=0.01)

    async def slow(waves: Waves, model: Model) -> None:
        with waves.episode("slow"):
            for prompt in ("1", "2"):
                await asyncio.sleep(0.3)
                await model.complete(request(prompt))

    async with (
        serve(Brain(), batches=batches) as addresses,
        process("openai", addresses, tmp_path, patient) as (waves, model),
    ):
        await asyncio.gather(
            slow(waves, model("slow")), *(play(waves, model(cell), cell, "1", "2") for cell in ("a", "b"))
        )
    assert [len(batch.names) for batch in batches.made.values()] == [3, 3]


@BOTH
async def test_a_batch_asks_what_a_single_call_would_ask(wire: str, tmp_path: Path) -> None:
    batches, brain = Batches(), Brain()
    async with (
        serve(brain, batches=batches) as addresses,
        process(wire, addresses, tmp_path) as (waves, model),
        client(wire, addresses) as alone,
    ):
        [found] = await play(waves, model("cell"), "cell", "What will you do?")
        other = await stack(alone).complete(request())
    assert brain.asked[0] == brain.asked[1]
    assert (found.value, found.usage, found.model) == (other.value, other.usage, other.model)


@BOTH
async def test_a_batch_keeps_to_its_bounds(wire: str, tmp_path: Path) -> None:
    batches = Batches()
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with serve(Brain(), batches=batches) as addresses:
        rules = BatchConfig(name="batch", size=3, bytes=None, wait=1.0, poll=0.01)
        async with process(wire, addresses, tmp_path / "a", rules) as (waves, model):
            await asyncio.gather(*(play(waves, model(f"{n}"), f"{n}", "Hello") for n in range(7)))
        assert sorted(len(batch.names) for batch in batches.made.values()) == [1, 3, 3]
        size = 2 * len(orjson.dumps(next(iter(batches.made.values())).bodies[0]))
        rules = BatchConfig(name="batch", size=None, bytes=size + 500, wait=1.0, poll=0.01)
        async with process(wire, addresses, tmp_path / "b", rules) as (waves, model):
            await asyncio.gather(*(play(waves, model(f"{n}"), f"{n}", "Hello") for n in range(4)))
            with pytest.raises(BadRequest, match="does not fit"):
                await play(waves, model("long"), "long", "x" * 2 * size)
    assert [len(batch.names) for batch in list(batches.made.values())[3:]] == [2, 2]


@BOTH
async def test_rows_that_expire_fail_or_get_lost_are_asked_again_alone(wire: str, tmp_path: Path) -> None:
    faults = {1: RowFault.EXPIRED, 2: RowFault.SERVER_ERROR, 3: RowFault.RATE_LIMIT, 4: RowFault.LOST}
    batches = Batches(faults=faults.get)
    async with (
        serve(Brain(echo), batches=batches) as addresses,
        process(wire, addresses, tmp_path) as (waves, model),
    ):
        cells = [f"cell-{number}" for number in range(6)]
        outcomes = await asyncio.gather(*(play(waves, model(cell), cell, cell) for cell in cells))
    assert [moods(replies) for replies in outcomes] == [[cell] for cell in cells]
    assert [replies[0].attempts for replies in outcomes] == [1, 2, 2, 2, 2, 1]
    assert (batches.rows, sum(batches.asked.values())) == (10, 10)


async def test_asking_again_is_bounded(tmp_path: Path) -> None:
    batches = Batches(faults=lambda _: RowFault.EXPIRED)
    async with (
        serve(Brain(), batches=batches) as addresses,
        process("openai", addresses, tmp_path) as (waves, model),
    ):
        with pytest.raises(InfrastructureFailed, match="the batch ended before"):
            await play(waves, model("cell"), "cell", "Hello")
    assert batches.rows == 4  # the tries of `stack`


@BOTH
async def test_what_a_server_refuses_in_a_batch_is_left_out_of_the_next(wire: str, tmp_path: Path) -> None:
    def refusing(asked: Request) -> str:
        if asked.answer is not None:
            raise BadRequest("this server knows no json_schema, and no tool", 400)
        return TEXT

    async with (
        serve(Brain(refusing)) as addresses,
        process(wire, addresses, tmp_path) as (waves, model),
    ):
        [found] = await play(waves, model("cell"), "cell", "Hello")
    assert found.attempts == 5  # twice by a schema, twice by a tool, in words


async def test_a_batch_that_is_refused_as_a_whole_is_tried_again_where_too_much_waits(tmp_path: Path) -> None:
    batches = Batches(refusals=["Enqueued token limit reached"])
    async with (
        serve(Brain(), batches=batches) as addresses,
        process("openai", addresses, tmp_path) as (waves, model),
    ):
        [found] = await play(waves, model("cell"), "cell", "Hello")
    assert (found.attempts, len(batches.made), batches.asked.total()) == (2, 2, 1)
    assert BatchJournal(tmp_path / BATCHES).open == {}


@BOTH
async def test_an_address_without_batches_is_told_to_all_who_wait(wire: str, tmp_path: Path) -> None:
    async with serve(Brain()) as addresses:
        other = Addresses(f"{addresses.openai}/nowhere", f"{addresses.anthropic}/nowhere")
        async with process(wire, other, tmp_path) as (waves, model):
            outcomes = await asyncio.gather(
                *(play(waves, model(cell), cell, "Hello") for cell in ("a", "b")), return_exceptions=True
            )
    assert [type(error) for error in outcomes] == [BadRequest, BadRequest]
    assert BatchJournal(tmp_path / BATCHES).open == {}


class Killed(Exception):
    """The process is no more."""


@BOTH
@pytest.mark.parametrize("moment", ["before the batch", "after the batch", "while it is open", "while it is read"])
async def test_a_process_that_is_killed_pays_nothing_twice(wire: str, moment: str, tmp_path: Path) -> None:
    batches = Batches(seconds=0.2)
    cells = [f"cell-{number}" for number in range(4)]
    reached = asyncio.Event()
    async with serve(Brain(echo), batches=batches) as addresses:
        async with process(wire, addresses, tmp_path) as (waves, model):
            service = waves.line("the model", None).service  # type: ignore[arg-type] # it is made already
            create, ended = service.create, service.ended

            async def creating(*arguments: Any) -> str:
                if moment == "after the batch":
                    await create(*arguments)
                reached.set()
                return await asyncio.get_running_loop().create_future()

            async def ending(batch: str) -> Any:
                reached.set()
                return await asyncio.get_running_loop().create_future()

            if moment in ("before the batch", "after the batch"):
                service.create = creating  # type: ignore[method-assign]
            elif moment == "while it is open":
                service.ended = ending  # type: ignore[method-assign]
            playing = [asyncio.create_task(play(waves, model(cell), cell, cell)) for cell in cells]
            if moment == "while it is read":
                while not (tmp_path / BATCHES).exists() or b'"read"' not in (tmp_path / BATCHES).read_bytes():
                    await asyncio.sleep(0.001)
                content = (tmp_path / BATCHES).read_bytes()
                os.truncate(tmp_path / BATCHES, content.rindex(b'{"answer"') + 20)  # a line is torn
            else:
                await reached.wait()
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)
            service.ended = ended  # type: ignore[method-assign]
        async with process(wire, addresses, tmp_path) as (waves, model):
            outcomes = await asyncio.gather(*(play(waves, model(cell), cell, cell) for cell in cells))
        async with process(wire, addresses, tmp_path) as (waves, model):
            again = await asyncio.gather(*(play(waves, model(cell), cell, cell) for cell in cells))
            assert waves.status().replayed == 4
    assert (
        [moods(replies) for replies in outcomes] == [moods(replies) for replies in again] == [[cell] for cell in cells]
    )
    assert batches.rows == 4
    assert set(batches.asked.values()) == {1}


async def test_equal_requests_of_an_episode_get_their_recorded_answers_in_order(tmp_path: Path) -> None:
    numbers = iter(range(100))
    brain = Brain(lambda _: TEXT.replace("ready", str(next(numbers))))
    async with serve(brain) as addresses:
        for _ in range(2):
            async with process("openai", addresses, tmp_path) as (waves, model):
                outcomes = await play(waves, model("cell"), "cell", "Hello", "Hello", "Hello")
                assert moods(outcomes) == ["0", "1", "2"]
    assert len(brain.asked) == 3


async def test_answers_that_are_in_no_cell_are_counted(tmp_path: Path) -> None:
    assert orphans(tmp_path) == Orphans(0, 0)
    async with serve(Brain()) as addresses, process("openai", addresses, tmp_path) as (waves, model):
        await asyncio.gather(*(play(waves, model(cell), cell, "1", "2") for cell in ("a", "b")))
    journal = BatchJournal(tmp_path / BATCHES)
    journal.intend("the model", [("a", "3"), ("c", "1")])
    journal.close()
    assert orphans(tmp_path) == Orphans(4, 2)
    (tmp_path / "a").mkdir()
    assert orphans(tmp_path) == Orphans(2, 1)


async def test_the_journal_holds_no_key_and_is_its_user_s_alone(tmp_path: Path) -> None:
    said = reply(TEXT.replace("ready", CANARY))
    async with (
        serve(Brain([said])) as addresses,
        process("openai", addresses, tmp_path) as (waves, model),
    ):
        await play(waves, model("cell"), "cell", "Hello")
    assert CANARY.encode() not in (tmp_path / BATCHES).read_bytes()
    assert (tmp_path / BATCHES).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("line", [b"{\n", b"[]\n", b'{"created": "x", "batch": "y"}\n', b'{"other": 1}\n'])
def test_a_damaged_journal_is_a_mistake_that_names_the_line(line: bytes, tmp_path: Path) -> None:
    (tmp_path / BATCHES).write_bytes(line)
    with pytest.raises(UserError, match=r"batches\.jsonl: line 1 is damaged"):
        BatchJournal(tmp_path / BATCHES)


async def test_episodes_that_are_cut_off_are_not_waited_for(tmp_path: Path) -> None:
    batches = Batches()
    rules = BatchConfig(name="batch", size=None, bytes=None, wait=0.3, poll=0.01)
    async with (
        serve(Brain(), batches=batches) as addresses,
        process("openai", addresses, tmp_path, rules) as (waves, model),
    ):
        with waves.episode("computes"):  # and never asks
            await play(waves, model("cell"), "cell", "Hello")
    assert batches.rows == 1
