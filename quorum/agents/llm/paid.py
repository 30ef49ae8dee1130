"""Replies that were paid for and hold no answer: what they cost goes up with the next answer, or with the failure.

A service that charges for a reply says so by its usage, whatever is wrong with the rest of it.
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
    """Return what was paid for a request that failed, as one reply without text; None for nothing."""
    paid: Reply | None = getattr(error, _NAME, None)
    return paid


def charge(error: Failure, *paid: Reply | None) -> Failure:
    """Return a failure that carries what was paid, the earliest first, and nothing else."""
    known = [reply for reply in paid if reply is not None]
    if known or paid_with(error) is not None:
        setattr(error, _NAME, together(known) if known else None)
    return error


@contextmanager
def carried(paid: Sequence[Reply | None]) -> Iterator[None]:
    """Have whatever ends the block carry what was paid within it, as well as what it carries itself.

    Args:
        paid: what was paid so far, the earliest first; it may grow in the block.
    """
    try:
        yield
    except BaseException as error:
        charge(error, *paid, paid_with(error))
        raise


def after(paid: Sequence[Reply | None], reply: Reply) -> Reply:
    """Return an answer with the tokens and the money of the replies before it that held none."""
    return together([*(before for before in paid if before is not None), reply])


def together(replies: Sequence[Reply]) -> Reply:
    """Return the last reply with the tokens and the money of all of them. Money is unknown as soon as one's is."""
    money = [reply.usd for reply in replies]
    known = [usd for usd in money if usd is not None]
    return replace(
        replies[-1],
        usage=_total([reply.usage for reply in replies]),
        usd=fsum(known) if len(known) == len(money) else None,
        unusable=sum(reply.unusable for reply in replies),
    )


def _total(usages: Sequence[Usage]) -> Usage:
    """Add counts; a mark is set where one of them has it."""
    columns = zip(*map(astuple, usages), strict=True)
    return Usage(*(any(column) if isinstance(column[0], bool) else sum(column) for column in columns))
