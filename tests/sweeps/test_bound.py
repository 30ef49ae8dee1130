"""A budget is a hard bound, whatever the grid: drawn kinds, prices, estimates, concurrency and kills, in simulation.

The workers of the simulation ask by the same `CellAllowance` as real ones, and leave what real ones leave on disk.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from maeil.outcomes import Outcome
from quorum.agents.llm.errors import BudgetReached
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Finish, Reply, Usage
from quorum.agents.llm.spending import Spent
from quorum.episode.expected import Expected
from quorum.episode.planned_cell import PlannedCell
from quorum.installation.provenance import CodeVersion
from quorum.runs.finished import FinishedCell, dropped_attempts
from quorum.sweeps.accounts import Accounts, Amounts
from quorum.sweeps.engines.protocol import Cut, Finished, Started
from quorum.sweeps.in_flight import read_in_flight
from quorum.sweeps.ledger import CellAllowance
from quorum.sweeps.queue import Queue
from quorum.sweeps.spending import Costs, SweepBudget
from quorum.sweeps.stopping import Stop


class Memory:
    """The accounts without their file."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts

    @contextmanager
    def changing(self) -> Iterator[Accounts]:
        yield self.accounts


@dataclass
class Episode:
    """An episode under way: the calls that are left, those that wait, and what this attempt has paid for."""

    allowance: CellAllowance
    left: list[int]
    flying: list[tuple[Amounts, int]] = field(default_factory=list)
    paid: list[int] = field(default_factory=list)


@dataclass
class Service:
    """The provider's own books."""

    limit: float
    received: float = 0.0
    allowed: float | None = None
    """What may be received in all: the bound, and the answers under way when it was reached, each as the dearest."""

    def send(self) -> None:
        assert self.received < self.limit, "a call went out after the bound was reached"

    def receive(self, usd: float, others: float) -> None:
        self.received += usd
        if self.allowed is None and self.received >= self.limit:
            self.allowed = self.received + others


class Simulation:
    """A grid whose cells cost what is drawn, each call of a kind about the same."""

    def __init__(self, folder: Path, seed: int, kinds: list[tuple[float, int]], boards: int, errs: float) -> None:
        self.folder, self.rng, self.errs = folder, random.Random(seed), errs
        self.cells = [
            PlannedCell(f"cell-{kind}-{board}", "h", str(kind), None, True, b"", {})
            for kind in range(len(kinds))
            for board in range(boards)
        ]
        self.kinds = kinds
        rng = self.rng
        self.calls = {
            cell.name: [price * rng.uniform(0.5, 2) for _ in range(max(1, round(number * rng.uniform(0.5, 2))))]
            for cell in self.cells
            for price, number in [kinds[int(cell.kind)]]
        }
        self.paid: dict[str, set[int]] = {cell.name: set() for cell in self.cells}
        """The calls that earlier attempts have paid for: their answers are given back."""
        self.done: set[str] = set()
        self.charged = 0.0
        """For answers that were in flight at a kill."""

    @property
    def whole(self) -> float:
        return sum(map(sum, self.calls.values()))

    def price(self, name: str) -> Price:
        """Return a price by which a prompt of one token costs a third of a call."""
        usual = self.kinds[int(name.split("-")[1])][0] * 1e6 / 3
        return Price(usual, 0.0, usual, usual, "drawn", "today")

    def flying(self, episode: Episode) -> float:
        """Return what the answers under way of an episode are charged at most: each as the dearest there is."""
        return len(episode.flying) * max(max(calls) for calls in self.calls.values())

    def guess(self, cell: PlannedCell) -> Expected:
        price, number = self.kinds[int(cell.kind)]
        return Expected(number * self.errs, number * self.errs, price * number * self.errs, 1.0)

    def sweep(self, limit: float, workers: int, kills: float, service: Service) -> Queue:
        costs = Costs(dropped_attempts(self.folder), in_flight=read_in_flight(self.folder))
        for cell in self.cells:
            if cell.name in self.done:
                costs.add(cell.kind, self.finished(cell.name))
        budget = SweepBudget(usd=limit)
        accounts = Accounts(budget)
        accounts.settle((), costs.used)
        missing = [cell for cell in self.cells if cell.name not in self.done]
        queue = Queue(self.folder, missing, costs, ledger=Memory(accounts), guess=self.guess)  # type: ignore[arg-type]
        playing: dict[str, Episode] = {}
        while True:
            while len(playing) < workers and (shard := queue.take(1, idle=True)) is not None:
                (cell,) = shard.cells
                allowance = CellAllowance(queue._ledger, cell.name)  # type: ignore[arg-type]
                calls = range(len(self.calls[cell.name]))
                playing[cell.name] = Episode(allowance, [call for call in calls if call not in self.paid[cell.name]])
                queue.report(Started(cell.name))
            if not playing:
                return queue
            if self.rng.random() < kills:
                self.kill(queue, playing, service)
                continue
            self.step(queue, playing, self.rng.choice(sorted(playing)), service)

    def step(self, queue: Queue, playing: dict[str, Episode], name: str, service: Service) -> None:
        """Send a call of an episode, or receive an answer; end it when nothing is left, or it was cut."""
        episode = playing[name]
        sends = episode.left and not episode.allowance.cut and len(episode.flying) < 3 and self.rng.random() < 0.6
        if sends:
            price = self.price(name)
            try:
                expected = episode.allowance.open(1, price)
            except BudgetReached:
                return
            service.send()
            episode.flying.append((expected, episode.left.pop(0)))
        elif episode.flying:
            expected, call = episode.flying.pop(self.rng.randrange(len(episode.flying)))
            usd = self.calls[name][call]
            episode.allowance.close(expected, Reply("", Finish.STOP, Usage(1, 0), usd, 0.0, "m"))
            episode.paid.append(call)
            service.receive(usd, sum(map(self.flying, playing.values())))
        elif episode.allowance.cut:
            self.put_down(name, playing.pop(name))
            queue.report(Cut(name, episode.allowance.cut))
        elif not episode.left:
            del playing[name]
            self.paid[name] |= {*episode.paid}
            self.done.add(name)
            for number in dropped_folders(self.folder, name):  # which `CallLedger.settle` removes
                (number / "calls.jsonl").unlink()
            queue.report(Finished(self.finished(name)))

    def kill(self, queue: Queue, playing: dict[str, Episode], service: Service) -> None:
        """Kill the worker of an episode: what is in flight is served, and counts as it is charged."""
        name = self.rng.choice(sorted(playing))
        episode = playing.pop(name)
        self.put_down(name, episode)
        queue._deaths.clear()
        before = queue._costs.in_flight
        queue.lost((queue.under_way[name],), "killed")
        assert queue._costs.in_flight.answers == before.answers + len(episode.flying)
        charged = queue._costs.in_flight.usd - before.usd
        assert charged >= sum(expected.usd for expected, _ in episode.flying) * (1 - 1e-9)
        service.receive(charged, sum(map(self.flying, playing.values())))
        self.charged += charged

    def put_down(self, name: str, episode: Episode) -> None:
        partial = self.folder / f"{name}.partial-{self.rng.getrandbits(32):08x}"
        partial.mkdir()
        records = [
            {"agent": "a", "key": str(call), "reply": {
                "usage": {"prompt": 1, "completion": 0}, "usd": self.calls[name][call], "repairs": 0,
                "wall": {"cache_hit": False},
            }}
            for call in episode.paid
        ]  # fmt: skip
        (partial / "calls.jsonl").write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
        self.paid[name] |= {*episode.paid}

    def finished(self, name: str) -> FinishedCell:
        usd = [self.calls[name][call] for call in self.paid[name]]
        spent = Spent(len(usd), len(usd), sum(usd))
        return FinishedCell(name, "h", Outcome.SUCCESS, "", 1.0, spent, False, CodeVersion("1"))


def dropped_folders(folder: Path, name: str) -> list[Path]:
    return [path for path in (folder / ".retried" / name).glob("*") if (path / "calls.jsonl").exists()]


KIND = st.tuples(st.sampled_from([0.001, 0.01, 0.1]), st.integers(2, 20))
"""Dollars of a call, and calls of an episode: prices differ a hundredfold."""


@given(
    seed=st.integers(0, 2**20),
    kinds=st.lists(KIND, min_size=1, max_size=5),
    boards=st.integers(1, 5),
    errs=st.sampled_from([0.1, 0.5, 1.0, 3.0]),
    share=st.floats(0.05, 1.5),
    workers=st.integers(1, 24),
    kills=st.sampled_from([0.0, 0.02, 0.1]),
)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_no_call_goes_out_once_the_budget_is_reached_and_more_of_it_goes_on_with_what_was_paid(
    seed: int,
    kinds: list[tuple[float, int]],
    boards: int,
    errs: float,
    share: float,
    workers: int,
    kills: float,
) -> None:
    with TemporaryDirectory() as folder:
        grid = Simulation(Path(folder), seed, kinds, boards, errs)
        limit = grid.whole * share
        service = Service(limit)
        queue = grid.sweep(limit, workers, kills, service)
        assert service.received <= (limit if service.allowed is None else service.allowed) + 1e-9
        assert abs(queue._costs.used.usd - service.received) < 1e-6
        assert queue.stop in (None, Stop.BUDGET)
        assert len(grid.done) == len(grid.cells) or queue.stop is Stop.BUDGET
        again = grid.sweep(limit, workers, 0.0, service)  # the same command finds no more money
        assert service.received <= (limit if service.allowed is None else service.allowed) + 1e-9
        more = Service(service.received + 10 * grid.whole + 10, received=service.received)
        last = grid.sweep(more.limit, workers, 0.0, more)
        assert (len(grid.done), last.stop) == (len(grid.cells), None)
        assert abs(more.received - grid.whole - grid.charged) < 1e-6  # nothing that arrived was paid for twice
        assert abs(last._costs.spent.usd - grid.whole) < 1e-6  # nor booked
        assert abs(last._costs.in_flight.usd - grid.charged) < 1e-6
        assert again._costs.spent.usd <= last._costs.spent.usd + 1e-9


def test_most_of_a_budget_is_used_for_cells_that_are_finished() -> None:
    with TemporaryDirectory() as folder:
        grid = Simulation(Path(folder), 7, [(0.001, 10), (0.1, 10)], 20, 1.0)
        limit = grid.whole / 2
        grid.sweep(limit, 16, 0.0, Service(limit))
        assert sum(sum(grid.calls[name]) for name in grid.done) > 0.7 * limit


def test_of_a_kind_without_a_finished_cell_one_is_under_way_and_others_begin_beside_it_if_they_fit(
    tmp_path: Path,
) -> None:
    grid = Simulation(tmp_path, 1, [(0.01, 10), (0.01, 10), (0.01, 10)], 3, 1.0)
    accounts = Accounts(SweepBudget(usd=0.45))  # two cells with the margin of an estimate, not three
    queue = Queue(tmp_path, grid.cells, Costs(), ledger=Memory(accounts), guess=grid.guess)  # type: ignore[arg-type]
    first, second = queue.take(9, idle=True), queue.take(9, idle=True)
    assert first is not None
    assert [cell.name for cell in first.cells] == ["cell-0-0", "cell-1-0"]
    assert second is None


def test_a_cell_that_nothing_is_known_of_is_alone(tmp_path: Path) -> None:
    grid = Simulation(tmp_path, 1, [(0.01, 10), (0.01, 10)], 3, 1.0)
    queue = Queue(tmp_path, grid.cells, Costs(), ledger=Memory(Accounts(SweepBudget(calls=500))))  # type: ignore[arg-type]
    shard = queue.take(9, idle=True)
    assert shard is not None
    assert [cell.name for cell in shard.cells] == ["cell-0-0"]
