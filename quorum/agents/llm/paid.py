"""Replies that were paid for but hold no answer: the next answer or the failure carries their cost.

A service that charges for a reply reports its usage, whatever is wrong with the rest of the reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from math import fsum
from typing import TypeVar

from quorum.agents.llm.protocol import Reply, Usage

Failure = TypeVar("Failure", bound=BaseException)

_NAME = "paid"


def paid_with(error: BaseException) -> Reply | None:
    """Return the cost of a failed request as one reply without text; None for nothing."""
    paid: Reply | None = getattr(error, _NAME, None)
    return paid


def charge(error: Failure, *paid: Reply | None) -> Failure:
    """Return a failure that carries exactly these paid replies, earliest first."""
    known = any(reply is not None for reply in paid)
    if known or paid_with(error) is not None:
        setattr(error, _NAME, together(paid) if known else None)
    return error


@contextmanager
def carried(paid: Sequence[Reply | None]) -> Iterator[None]:
    """Add the replies paid for in the block to any exception that ends it.

    Args:
        paid: the replies paid for so far, earliest first; the block may append to it.
    """
    try:
        yield
    except BaseException as error:
        charge(error, *paid, paid_with(error))
        raise


def together(paid: Sequence[Reply | None]) -> Reply:
    """Return the last reply with the total tokens and cost. The cost is unknown if any is unknown.

    Args:
        paid: the replies in order, at least one; None for requests without cost.
    """
    replies = [reply for reply in paid if reply is not None]
    money = [reply.usd for reply in replies]
    known = [usd for usd in money if usd is not None]
    return replace(
        replies[-1],
        usage=_total([reply.usage for reply in replies]),
        usd=fsum(known) if len(known) == len(money) else None,
        unusable=sum(reply.unusable for reply in replies),
    )


def _total(usages: Sequence[Usage]) -> Usage:
    """Add counts; an estimate flag is set if it is set in any of them."""
    columns = zip(*map(astuple, usages), strict=True)
    return Usage(*(any(column) if isinstance(column[0], bool) else sum(column) for column in columns))
