"""Answers that were in flight when a command or a worker of a sweep with a budget was killed, and what they count as.

A server serves, and bills, a call whose client is dead. No record of its answer exists, so it is charged as much as the
dearest one so far of its kind of cell, once, in a file that every later command of the sweep adds to what it has used.
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
"""The file in the folder of a sweep: what is charged, by the passing name of the folder of each killed attempt."""


def read_in_flight(folder: Path) -> Spent:
    """Return what all answers count as that were in flight at a kill.

    Raises:
        UserError: the file is damaged.
    """
    return sum(_read(folder).values(), Spent())


def charge_killed(folder: Path) -> dict[str, Amounts]:
    """Charge what was in flight when the last command was killed. Only while its half-written folders are there.

    Returns:
        The dearest answer of that command by kind of cell; nothing if no command was killed.
    """
    with suppress(FileNotFoundError, NotAFile, msgspec.DecodeError):  # none; or one that a power cut has damaged
        accounts = msgspec.json.decode(_bytes(folder, LEDGER), type=Accounts)
        for name in accounts.cells:
            charge(folder, accounts, name)
        return accounts.dearest
    return {}


def charge(folder: Path, accounts: Accounts, name: str) -> Spent:
    """Charge what was in flight of a cell whose worker is no more.

    Nothing is charged twice, whenever this is killed: an attempt is charged under the name of its half-written folder,
    while that has this name.

    Args:
        folder: of the sweep.
        accounts: of the command that ran the cell.
        name: of the cell.

    Returns:
        What is charged.

    Raises:
        UserError: the file of what is charged is damaged.
    """
    attempts = sorted(entry.name for entry in os.scandir(folder) if entry.name.startswith(f"{name}{PARTIAL}"))
    if not attempts:  # it is finished, or was charged and put aside
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
            "Remove it; answers that were in flight when a command was killed then no longer count in the budget.",
        ) from error


def _bytes(folder: Path, name: str) -> bytes:
    with os.fdopen(open_inside(folder, name, os.O_RDONLY), "rb") as file:
        return file.read()
