"""Charges for answers that were in flight when a command or worker of a sweep with a budget was killed.

A server completes and bills a call even if its client is dead. Since no record of the answer exists, it is charged
once, as much as the most expensive answer so far of its kind of cell. A file keeps the charges, and every later command
of the sweep adds them to its used amounts.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

import msgspec

from quorum.agents.llm.spending import Spent
from quorum.episode.episode_folder import PARTIAL
from quorum.runs.finished import read_paid
from quorum.sweeps.accounts import Accounts, Amounts
from quorum.sweeps.ledger import LEDGER
from quorum_base.inside import NotAFile, open_inside, write_inside
from quorum_base.user_errors import UserError

IN_FLIGHT = ".in_flight"
"""The file of charges in a sweep folder, keyed by the temporary folder name of each killed attempt."""


def read_in_flight(folder: Path) -> Spent:
    """Return the total charge for answers in flight at a kill.

    Raises:
        UserError: the file is damaged.
    """
    return sum(_read(folder).values(), Spent())


def charge_killed(folder: Path) -> dict[str, Amounts]:
    """Charge for answers in flight when the last command was killed. Call before removing its half-written folders.

    Returns:
        The most expensive answer of that command by kind of cell; empty if no command was killed.
    """
    with suppress(FileNotFoundError, NotAFile, msgspec.DecodeError):  # no file, or one damaged by a power cut
        accounts = msgspec.json.decode(_bytes(folder, LEDGER), type=Accounts)
        for name in accounts.cells:
            charge(folder, accounts, name)
        return accounts.dearest
    return {}


def charge(folder: Path, accounts: Accounts, name: str) -> Spent:
    """Charge for answers in flight in a cell whose worker is gone.

    Nothing is charged twice, even if this is killed: a charge is stored under the temporary name of the attempt's
    folder, and the folder keeps that name until it is set aside.

    Args:
        folder: folder of the sweep.
        accounts: accounts of the command that ran the cell.
        name: name of the cell.

    Returns:
        The charge.

    Raises:
        UserError: the file of charges is damaged.
    """
    attempts = sorted(entry.name for entry in os.scandir(folder) if entry.name.startswith(f"{name}{PARTIAL}"))
    if not attempts:  # the cell is finished, or was charged and set aside
        return Spent()
    recorded = sum((read_paid(folder / attempt) for attempt in attempts), Spent())
    lost = accounts.unrecorded(name, recorded)
    charged = Spent(round(lost.calls), math.ceil(lost.tokens), lost.usd)
    if charged.answers:
        write_inside(folder, {IN_FLIGHT: msgspec.json.encode({**_read(folder), attempts[0]: charged})})
    return charged


def _read(folder: Path) -> dict[str, Spent]:
    try:
        return msgspec.json.decode(_bytes(folder, IN_FLIGHT), type=dict[str, Spent])
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (NotAFile, msgspec.DecodeError) as error:
        raise UserError(
            f"{folder / IN_FLIGHT}: damaged: {error}",
            "Remove it. Answers that were in flight when a command was killed then no longer count towards the budget.",
        ) from error


def _bytes(folder: Path, name: str) -> bytes:
    with os.fdopen(open_inside(folder, name, os.O_RDONLY), "rb") as file:
        return file.read()
