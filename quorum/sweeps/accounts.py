"""Budget accounts of a sweep: what is booked, and what each running cell reserves, has used and expects to use.

Each cell holds a reservation. If a cell needs more, it draws on the unreserved rest of the budget while any is left.
Cells that stay within their estimate therefore always finish, and a cell that does not is cut once the rest is gone.
No call goes out once the amounts used and under way have reached the budget.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import msgspec

from quorum.agents.llm.spending import Spent
from quorum.sweeps.spending import KINDS, SweepBudget

_SLACK = 1e-9
"""Relative tolerance for rounding errors in sums of floats."""


class Amounts(msgspec.Struct, frozen=True, array_like=True):
    """Amounts of each quantity that a budget can limit.

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
        """Return what answers used."""
        return cls(spent.usd, spent.tokens, spent.answers)

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.usd + other.usd, self.tokens + other.tokens, self.calls + other.calls)

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(self.usd - other.usd, self.tokens - other.tokens, self.calls - other.calls)

    def most(self, other: Amounts) -> Amounts:
        """Return the larger value of each amount."""
        return Amounts(max(self.usd, other.usd), max(self.tokens, other.tokens), max(self.calls, other.calls))

    def least(self, other: Amounts) -> Amounts:
        """Return the smaller value of each amount."""
        return Amounts(min(self.usd, other.usd), min(self.tokens, other.tokens), min(self.calls, other.calls))

    @property
    def is_known(self) -> bool:
        """Whether each amount is below `EVERYTHING`."""
        return max(self.usd, self.tokens, self.calls) < EVERYTHING.calls

    def times(self, share: float) -> Amounts:
        """Return each amount multiplied by `share`."""
        return Amounts(self.usd * share, self.tokens * share, self.calls * share)


EVERYTHING = Amounts(*[float("1e300")] * len(KINDS))
"""More than any budget."""


class CellAccount(msgspec.Struct):
    """The share of the budget held by a running cell.

    Attributes:
        reserved: amounts reserved for this cell.
        used: amounts its answers used.
        paid: the part of `used` that neither a cache nor a batch stores: only the cell's call records hold it.
        under_way: expected amounts of its calls that wait for an answer.
        kind: kind of the cell; cells of a kind have answers of about the same size.
        cut: the limit that ended the cell; empty if none.
    """

    reserved: Amounts
    used: Amounts = Amounts()
    paid: Amounts = Amounts()
    under_way: Amounts = Amounts()
    kind: str = ""
    cut: str = ""

    @property
    def committed(self) -> Amounts:
        """Amounts used or under way."""
        return self.used + self.under_way

    @property
    def held(self) -> Amounts:
        """Amounts that no other cell may use."""
        return self.reserved.most(self.committed)


class Accounts(msgspec.Struct):
    """The accounts of a sweep.

    Attributes:
        budget: budget of the whole sweep.
        booked: amounts of cells that are not running, and of earlier attempts at those that are.
        cells: accounts of running cells that may call language models, by name.
        unpriced: a model whose answer lacked a price; empty if none.
        batched: whether calls go out in batches, whose answers survive a kill.
        dearest: the most that one paid answer used, by kind of cell, in this command and in killed ones before it.
    """

    budget: SweepBudget
    booked: Amounts = Amounts()
    cells: dict[str, CellAccount] = {}
    unpriced: str = ""
    batched: bool = False
    dearest: dict[str, Amounts] = {}

    @property
    def held(self) -> Amounts:
        """Total booked or held."""
        return sum((account.held for account in self.cells.values()), self.booked)

    @property
    def committed(self) -> Amounts:
        """Total booked, used or under way."""
        return sum((account.committed for account in self.cells.values()), self.booked)

    def reserve(self, name: str, least: Amounts, most: Amounts, kind: str = "") -> str:
        """Open the account of a cell that is about to start, with a reservation.

        Args:
            name: name of the cell.
            least: amounts that must be left.
            most: amounts to reserve, as far as they are left.
            kind: kind of the cell.

        Returns:
            The limit that forbids it; empty if the cell may start.
        """
        cut = next((account.cut for account in self.cells.values() if account.cut), "")
        if refused := cut or self._beyond(least):
            return refused
        held = self.held
        left = {kind: limit - getattr(held, kind) for kind, limit in self.budget.limits.items()}
        self.cells[name] = CellAccount(most.least(msgspec.structs.replace(EVERYTHING, **left)), kind=kind)
        return ""

    def open(self, name: str, expected: Amounts) -> str:
        """Open a call of a cell.

        Args:
            name: name of the cell.
            expected: expected amounts of the call.

        Returns:
            The limit that forbids the call and cuts the cell; empty if the call may go out.
        """
        if (account := self.cells.get(name)) is None:  # the worker was given up, and its work is already booked
            return self.budget.option(next(iter(self.budget.limits)))
        if not account.cut and self.unpriced and self.budget.usd is not None:
            account.cut = self.budget.option("usd")
        account.cut = account.cut or self._used_up(account, expected)
        if not account.cut:
            account.under_way += expected
        return account.cut

    def _used_up(self, account: CellAccount, expected: Amounts) -> str:
        """Return the limit that is reached, or that leaves nothing for a cell that has used up its reservation."""
        held, committed = self.held, self.committed
        for kind, limit in self.budget.limits.items():
            used, reserved = getattr(account.committed, kind), getattr(account.reserved, kind)
            more = getattr(expected, kind) if used >= reserved else 0.0
            left = limit * (1 + _SLACK) - getattr(held, kind)
            if getattr(committed, kind) >= limit or more > max(left, 0.0):
                return self.budget.option(kind)
        return ""

    def close(self, name: str, expected: Amounts, used: Amounts, unpriced: str = "", *, cached: bool = False) -> None:
        """Close a call of a cell.

        Args:
            name: name of the cell.
            expected: the value passed to `open`.
            used: amounts of its answer; zero if none arrived.
            unpriced: the model, if its answer lacked a price.
            cached: whether the answer came from a cache.
        """
        if (account := self.cells.get(name)) is None:
            return
        account.under_way -= expected
        account.used += used
        if not cached:
            account.paid += used
            self.dearest[account.kind] = used.most(self.dearest.get(account.kind, used))
        self.unpriced = self.unpriced or unpriced

    def unrecorded(self, name: str, recorded: Spent) -> Amounts:
        """Return the charge for answers of a dead cell that have no record.

        These are answers that arrived but were not recorded, and calls still waiting for one. An account is closed
        before the record is written, so none is missed. The size of an answer that never arrived is unknown, so each
        counts as the most expensive one so far of its kind of cell, or else of all kinds. The budget thus holds however
        many commands are killed. Without any, it counts as the mean booked answer, or else as the reservation.

        Args:
            name: name of the cell.
            recorded: recorded amounts of the attempt, without cached answers.
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
        """Close the accounts of cells that are no longer running.

        Args:
            names: names of the cells.
            spent: total of the sweep according to its records: finished cells and attempts that were set aside.
        """
        for name in names:
            self.cells.pop(name, None)
        self.booked = Amounts.of(spent)

    def _beyond(self, more: Amounts) -> str:
        """Return the limit that would be exceeded by holding `more`; empty if none."""
        total = self.held
        for kind, limit in self.budget.limits.items():
            held = getattr(total, kind)
            if held >= limit or held + getattr(more, kind) > limit * (1 + _SLACK):
                return self.budget.option(kind)
        return ""
