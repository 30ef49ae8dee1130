"""The accounts of a sweep in a file in its folder, shared by its command and its workers on all machines.

Every model call is entered under a lock, before it goes out and again when its answer arrives. The limit therefore
holds with any engine. The file belongs to one command: the next command recreates it from the records, after it has
charged for answers in flight if the earlier one was killed (`quorum.sweeps.in_flight`).
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
"""The ledger file in a sweep folder."""
_LOCK = f"{LEDGER}.lock"


class Ledger:
    """The accounts of a sweep, as read and changed by one process.

    Args:
        folder: folder of the sweep, which must exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = open_lock(folder, _LOCK)

    @classmethod
    @contextmanager
    def kept(
        cls, folder: Path, budget: SweepBudget, spent: Spent, *, batched: bool, dearest: dict[str, Amounts]
    ) -> Iterator[Ledger | None]:
        """Keep the accounts of the command that holds the folder; yields None if there is no budget.

        Args:
            folder: folder of the sweep.
            budget: budget of the sweep.
            spent: spending of the sweep so far.
            batched: whether calls go out in batches.
            dearest: the most that one answer of killed commands used, by kind of cell.
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
        """Lock and yield the accounts, then write the changes."""
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
    """Lets a cell draw on its sweep's budget. Implements `quorum.agents.llm.spending.Account`.

    A call is expected to use the mean of the cell's answers so far, and at least its prompt.

    Args:
        ledger: ledger of the sweep.
        cell: name of the cell.
    """

    def __init__(self, ledger: Ledger, cell: str) -> None:
        self._ledger = ledger
        self._cell = cell
        self._answers = 0
        self._used = Amounts()
        self.cut = ""
        """The limit that cut the cell; empty if none."""

    def open(self, prompt: float, price: Price | None) -> Amounts:
        """Open a call; return its expected amounts, to be passed to `close`.

        Raises:
            BudgetReached: the budget of the sweep forbids the call; it was not sent.
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
        """Close a call; `reply` is None if no answer arrived."""
        used, unpriced, cached = Amounts(), "", False
        if reply is not None:
            used = Amounts(reply.usd or 0.0, reply.usage.prompt + reply.usage.completion, 1)
            unpriced = reply.model if reply.usd is None else ""
            cached = reply.cache_hit
            self._answers += 1
            self._used += used
        with self._ledger.changing() as accounts:
            accounts.close(self._cell, expected, used, unpriced, cached=cached)
