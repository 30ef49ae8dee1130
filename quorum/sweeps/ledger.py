"""The accounts of a sweep in a file of its folder, which its command and all of its workers share, on every machine.

Every call of a language model is entered before it goes out and when its answer is there, under a lock. So the bound
holds whatever engine runs the cells. The file belongs to one command: the next one makes it again from the books, once
it has charged what was in flight if the earlier one was killed (`quorum.sweeps.in_flight`).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from quorum.agents.llm.errors import BudgetReached
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Reply, Usage
from quorum.agents.llm.spending import Spent
from quorum.storage.locks import open_lock
from quorum.sweeps.accounts import Accounts, Amounts
from quorum.sweeps.spending import SweepBudget
from quorum_base.inside import open_inside, remove_inside, write_inside

LEDGER = ".budget"
"""The file in the folder of a sweep."""
_LOCK = f"{LEDGER}.lock"


class Ledger:
    """The accounts of a sweep, as one process reads and changes them.

    Args:
        folder: of the sweep, which exists.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = open_lock(folder, _LOCK)

    @classmethod
    @contextmanager
    def kept(
        cls, folder: Path, budget: SweepBudget, spent: Spent, *, batched: bool, dearest: dict[str, Amounts]
    ) -> Iterator[Ledger | None]:
        """Keep the accounts of a command that holds the folder; gives None where nothing is bounded.

        Args:
            folder: of the sweep.
            budget: of the sweep.
            spent: by the sweep so far.
            batched: whether calls go out in batches.
            dearest: the most that a single answer of killed commands took, by kind of cell.
        """
        ledger = cls(folder) if budget.any else None
        if ledger is not None:
            accounts = Accounts(budget, batched=batched, dearest=dearest)
            accounts.settle((), spent)
            ledger._write(accounts)
        try:
            yield ledger
        finally:
            if ledger is not None:
                ledger.close()
            for name in (LEDGER, _LOCK):
                remove_inside(folder, name)

    @contextmanager
    def changing(self) -> Iterator[Accounts]:
        """Give the accounts while no other process changes them, and write what was changed."""
        with suppress(OSError):  # a file system without locks
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            with os.fdopen(open_inside(self._folder, LEDGER, os.O_RDONLY), "rb") as file:
                accounts = msgspec.json.decode(file.read(), type=Accounts)
            yield accounts
            self._write(accounts)
        finally:
            with suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _write(self, accounts: Accounts) -> None:
        write_inside(self._folder, {LEDGER: msgspec.json.encode(accounts)}, synced=False)

    def close(self) -> None:
        """Close its files."""
        self._lock.close()


class CellAllowance:
    """What a cell may draw of the budget of its sweep. Fulfils `quorum.agents.llm.spending.Account`.

    A call is expected to take what the cell's answers took on average, and at least its prompt.

    Args:
        ledger: of the sweep.
        cell: its name.
    """

    def __init__(self, ledger: Ledger, cell: str) -> None:
        self._ledger = ledger
        self._cell = cell
        self._answers = 0
        self._used = Amounts()
        self.cut = ""
        """The bound that has cut the cell; empty: none has."""

    def open(self, prompt: float, price: Price | None) -> Amounts:
        """Begin a call; give what is expected of it, for `close`.

        Raises:
            BudgetReached: the budget of the sweep does not allow it; nothing was asked.
        """
        usd = 0.0 if price is None else price.usd(Usage(prompt=int(prompt), completion=0))
        mean = self._used.times(1 / self._answers) if self._answers else Amounts()
        expected = Amounts(usd, prompt, 1).most(mean)
        with self._ledger.changing() as accounts:
            self.cut = accounts.open(self._cell, expected)
            budget, used = accounts.budget, accounts.committed
        if self.cut:
            kind = next(kind for kind in budget.limits if budget.option(kind) == self.cut)
            raise BudgetReached(kind, getattr(used, kind), budget.limits[kind])
        return expected

    def close(self, expected: Amounts, reply: Reply | None) -> None:
        """End a call; None where no answer came."""
        used, unpriced, cached = Amounts(), "", False
        if reply is not None:
            used = Amounts(reply.usd or 0.0, reply.usage.prompt + reply.usage.completion, 1)
            unpriced = reply.model if reply.usd is None else ""
            cached = reply.cache_hit
            self._answers += 1
            self._used += used
        with self._ledger.changing() as accounts:
            accounts.close(self._cell, expected, used, unpriced, cached=cached)
