"""The accounts of a sweep with a budget: what is booked, and what each cell under way holds, has used, and waits for.

A cell holds a reservation. What it draws beyond that comes from what is left, as long as something is: so cells that
keep to what was expected of them reach their end, and one that does not is cut when nothing is left. No call goes out
once what was used and what is under way have reached the budget.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import msgspec

from quorum.agents.llm.spending import Spent
from quorum.sweeps.spending import KINDS, SweepBudget

_SLACK = 1e-9
"""Share of a bound by which sums of floats may miss it."""


class Amounts(msgspec.Struct, frozen=True, array_like=True):
    """Amounts of everything that a budget may bound.

    Attributes:
        usd: money in US dollars.
        tokens: tokens read and written.
        calls: answers of language models.
    """

    usd: float = 0.0
    tokens: float = 0.0
    calls: float = 0.0

    @classmethod
    def of(cls, spent: Spent) -> Amounts:
        """Return what answers took."""
        return cls(spent.usd, spent.tokens, spent.answers)

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.usd + other.usd, self.tokens + other.tokens, self.calls + other.calls)

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(self.usd - other.usd, self.tokens - other.tokens, self.calls - other.calls)

    def most(self, other: Amounts) -> Amounts:
        """Return the larger one of each amount."""
        return Amounts(max(self.usd, other.usd), max(self.tokens, other.tokens), max(self.calls, other.calls))

    def least(self, other: Amounts) -> Amounts:
        """Return the smaller one of each amount."""
        return Amounts(min(self.usd, other.usd), min(self.tokens, other.tokens), min(self.calls, other.calls))

    @property
    def is_known(self) -> bool:
        """Whether each amount is less than everything."""
        return max(self.usd, self.tokens, self.calls) < EVERYTHING.calls

    def times(self, share: float) -> Amounts:
        """Return so many times as much."""
        return Amounts(self.usd * share, self.tokens * share, self.calls * share)


EVERYTHING = Amounts(*[float("1e300")] * len(KINDS))
"""More than any budget has."""


class CellAccount(msgspec.Struct):
    """What a cell under way holds of the budget.

    Attributes:
        reserved: for it alone.
        used: by its answers.
        paid: the part of it that neither a cache nor a batch has, but the records of its calls alone.
        under_way: expected of its calls that wait for their answer.
        kind: of the cell: cells of a kind have answers of about the same size.
        cut: the bound that has cut it; empty: none has.
    """

    reserved: Amounts
    used: Amounts = Amounts()
    paid: Amounts = Amounts()
    under_way: Amounts = Amounts()
    kind: str = ""
    cut: str = ""

    @property
    def committed(self) -> Amounts:
        """What it has used, with what is under way."""
        return self.used + self.under_way

    @property
    def held(self) -> Amounts:
        """What nobody else may use."""
        return self.reserved.most(self.committed)


class Accounts(msgspec.Struct):
    """The accounts of a sweep.

    Attributes:
        budget: of the whole sweep.
        booked: by cells that are not under way, and by earlier attempts at those that are.
        cells: those under way that may ask language models, by name.
        unpriced: a model whose answer did not say what it cost; empty: none.
        batched: whether calls go out in batches, whose answers outlive a kill.
        dearest: the most that a single paid answer took, by kind of cell, in this command and in killed ones before it.
        held: what is booked or held, in all.
        committed: what is booked, used or under way, in all.
    """

    budget: SweepBudget
    booked: Amounts = Amounts()
    cells: dict[str, CellAccount] = {}
    unpriced: str = ""
    batched: bool = False
    dearest: dict[str, Amounts] = {}
    held: Amounts = Amounts()
    committed: Amounts = Amounts()

    def reserve(self, name: str, least: Amounts, most: Amounts, kind: str = "") -> str:
        """Open the account of a cell that is to begin, with a reservation.

        Args:
            name: of the cell.
            least: that must be left.
            most: to reserve, as far as it is left.
            kind: of the cell.

        Returns:
            The bound that does not allow it; empty when the cell may begin.
        """
        cut = next((account.cut for account in self.cells.values() if account.cut), "")
        if refused := cut or self._beyond(least):
            return refused
        left = {kind: limit - getattr(self.held, kind) for kind, limit in self.budget.limits.items()}
        self.cells[name] = CellAccount(most.least(msgspec.structs.replace(EVERYTHING, **left)), kind=kind)
        self._total()
        return ""

    def open(self, name: str, expected: Amounts) -> str:
        """Begin a call of a cell.

        Args:
            name: of the cell.
            expected: of the call.

        Returns:
            The bound that does not allow it, by which the cell is cut; empty when the call may go out.
        """
        if (account := self.cells.get(name)) is None:  # its worker was given up: what it did is booked already
            return self.budget.option(next(iter(self.budget.limits)))
        if not account.cut and self.unpriced and self.budget.usd is not None:
            account.cut = self.budget.option("usd")
        before = account.held
        account.cut = account.cut or self._used_up(account, expected)
        if account.cut:
            return account.cut
        account.under_way += expected
        self.committed += expected
        self.held += account.held - before
        return ""

    def _used_up(self, account: CellAccount, expected: Amounts) -> str:
        """Return the bound that is reached, or of which nothing is left for a cell whose reservation is used up."""
        for kind, limit in self.budget.limits.items():
            used, reserved = getattr(account.committed, kind), getattr(account.reserved, kind)
            more = getattr(expected, kind) if used >= reserved else 0.0
            left = limit * (1 + _SLACK) - getattr(self.held, kind)
            if getattr(self.committed, kind) >= limit or more > max(left, 0.0):
                return self.budget.option(kind)
        return ""

    def close(self, name: str, expected: Amounts, used: Amounts, unpriced: str = "", *, cached: bool = False) -> None:
        """End a call of a cell.

        Args:
            name: of the cell.
            expected: as for `open`.
            used: by its answer; nothing where none came.
            unpriced: the model, if the answer did not say what it cost.
            cached: whether a cache gave the answer.
        """
        if (account := self.cells.get(name)) is None:
            return
        before = account.held
        account.under_way -= expected
        account.used += used
        if not cached:
            account.paid += used
            self.dearest[account.kind] = used.most(self.dearest.get(account.kind, used))
        self.unpriced = self.unpriced or unpriced
        self.committed += used - expected
        self.held += account.held - before

    def unrecorded(self, name: str, recorded: Spent) -> Amounts:
        """Return what the answers of a dead cell count as of which there is no record.

        Answers that came and were not recorded and calls still waiting for an answer. An account
        is closed before the record is written, so none is missing. Nobody knows how long an answer is that never
        came, so each counts as the dearest one so far of its kind of cell, or else of all: however many commands are
        killed, the budget holds. Without one, it counts as the mean answer of the books, or else of the reservation.

        Args:
            name: of the cell.
            recorded: by the attempt, without answers of a cache.
        """
        account = self.cells[name]
        lost = account.paid + account.under_way - Amounts.of(recorded)
        if self.batched or lost.calls < 1:
            return Amounts()
        of_any_kind = reduce(Amounts.most, self.dearest.values(), Amounts())
        dearest = self.dearest.get(account.kind, of_any_kind)
        known = next((each for each in (dearest, self.booked) if each.calls), account.reserved)
        return lost.most(known.times(lost.calls / known.calls) if known.is_known and known.calls else lost)

    def settle(self, names: Iterable[str], spent: Spent) -> None:
        """Close the accounts of cells that are not under way any more.

        Args:
            names: of the cells.
            spent: by the sweep, as its books have it: by finished cells, and by attempts that were put aside.
        """
        for name in names:
            self.cells.pop(name, None)
        self.booked = Amounts.of(spent)
        self._total()

    def _total(self) -> None:
        self.held = self.committed = self.booked
        for account in self.cells.values():
            self.held += account.held
            self.committed += account.committed

    def _beyond(self, more: Amounts) -> str:
        """Return the bound that does not allow to hold more; empty where all do."""
        for kind, limit in self.budget.limits.items():
            held = getattr(self.held, kind)
            if held >= limit or held + getattr(more, kind) > limit * (1 + _SLACK):
                return self.budget.option(kind)
        return ""
