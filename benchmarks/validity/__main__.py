"""Draws studies of planted teams, and writes `studies.csv` and `studies.md`: python -m benchmarks.validity DIR.

DIR has the boards that `python -m benchmarks.validity.teams DIR` plays. Takes some minutes.
"""

from __future__ import annotations

import argparse
import csv
import resource
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.validity.studies import ANY, BOARDS, POOLS, Row, measure
from benchmarks.validity.teams import EFFECTS, TEAMS, WORLDS, Played
from quorum.installation.version import __version__

SHOWN = (12, 40)
"""Numbers of boards in the tables of the page."""


def page(rows: Sequence[Row], how: str) -> str:
    """Return the Markdown of the page: for each world a table, then what all studies say together."""
    lines = (
        "# Studies of planted teams",
        "",
        *_wrapped(_introduction(rows, how)),
        "",
        *_tables(rows),
        *_power_of_weak_help(rows),
        *_sentences(rows),
    )
    return "\n".join((*lines, ""))


def _introduction(rows: Sequence[Row], how: str) -> str:
    return (
        f"A cell is the percentage of {rows[0].studies} studies of {' and of '.join(map(str, SHOWN))} boards that call "
        "an effect better or worse, significantly and above the noise floor. Bold: the team has this effect, and the "
        "figure is the power, the share with the right sign. Otherwise it has none, and the figure is the size, which "
        f"must be at most 5. `{ANY}` is the share of studies that call any effect that the team does not have; `total`"
        f" is tested alone. Each arm has its own random numbers. {how}"
    )


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for world, small in WORLDS.items():
        yield f"**{world}**, `{small.words}`:\n"
        yield f"| team | {' | '.join((*EFFECTS, ANY))} |\n|---|{'---|' * (len(EFFECTS) + 1)}"
        for team in TEAMS:
            cells = (_shown(rows, world, team, effect) for effect in (*EFFECTS, ANY))
            yield f"| {team} | {' | '.join(cells)} |"
        yield ""


def _power_of_weak_help(rows: Sequence[Row]) -> Iterator[str]:
    yield "**Weak help**: the power by boards (error):\n"
    yield f"| world | effect | {' | '.join(f'{boards} boards' for boards in BOARDS)} |\n|---|---|{'---|' * len(BOARDS)}"
    for world, effect in product(WORLDS, ("total", "content")):
        found = (_only(rows, world, "weak help", effect, boards) for boards in BOARDS)
        yield f"| {world} | {effect} | {' | '.join(f'{row.found:.0%} ({row.error:.0%})' for row in found)} |"
    yield ""


def _sentences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what all studies say together."""
    without = [row for row in rows if not row.expected and row.effect != ANY]
    there = [row for row in rows if row.expected]
    yield from _wrapped(f"- **Size.** {_sizes(without)}")
    for boards in BOARDS:
        some = [row for row in without if row.boards == boards]
        yield from _wrapped(
            f"  - {boards} boards: called {_mean(row.called for row in some):.1%} on average; significant after "
            f"correction, whatever the noise floor, {_mean(row.significant for row in some):.1%}; before correction "
            f"{_mean(row.alone for row in some):.1%}."
        )
    family = [row for row in rows if row.effect == ANY]
    yield from _wrapped(
        f"- **Family-wise**, some effect that the team does not have: {_sizes(family)} Holm's correction alone finds "
        f"some in {_mean(row.significant for row in family):.1%} of studies on average, at most in "
        f"{max(row.significant for row in family):.1%}; without correction, some p is at most 0.05 in "
        f"{_mean(row.alone for row in family):.1%}."
    )
    for boards in SHOWN:
        powers = [row for row in there if row.boards == boards and row.team != "weak help"]
        least = min(powers, key=lambda row: row.found)
        yield from _wrapped(
            f"- **Power at {boards} boards**, all teams but weak help: {_mean(row.found for row in powers):.0%} on "
            f"average, at least {least.found:.0%} ({_named(least)})."
        )
    wrong = max(there, key=lambda row: row.called - row.found)
    yield from _wrapped(
        f"- **Wrong sign.** At most {wrong.called - wrong.found:.1%} of studies call an effect that the team has by "
        f"the wrong sign{f' ({_named(wrong)})' if wrong.called > wrong.found else ''}."
    )
    intervals = [row for row in rows if row.effect != ANY]
    lowest = min(intervals, key=lambda row: row.covered)
    yield from _wrapped(
        f"- **Intervals** contain the effect in {_mean(row.covered for row in intervals):.1%} of studies on average, "
        f"at least in {lowest.covered:.1%} ({_named(lowest)}). For an effect that is there, its mean over the boards "
        "of the other pools stands for the true value."
    )


def _sizes(rows: Sequence[Row]) -> str:
    largest, often = max(rows, key=lambda row: row.called), [row for row in rows if row.too_often]
    listed = f": {'; '.join(f'{_named(row)}, {row.called:.1%}' for row in often)}" if often else ""
    return (
        f"Called in {_mean(row.called for row in rows):.1%} of studies on average over {len(rows)} combinations of "
        f"world, team, effect and boards; the largest share is {largest.called:.1%} (error {largest.error:.1%}; "
        f"{_named(largest)}). {len(often)} are above 5 % by more than two errors{listed}."
    )


def _wrapped(text: str) -> list[str]:
    """Break text into lines as the guide's; the lines of a list item are indented."""
    indent = " " * (len(text) - len(text.lstrip(" -")))
    return textwrap.wrap(text, 140, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _shown(rows: Sequence[Row], world: str, team: str, effect: str) -> str:
    """Return the power in bold, or the size, for each number of boards in `SHOWN`."""
    found = [_only(rows, world, team, effect, boards) for boards in SHOWN]
    text = ", ".join(f"{100 * row.found:.0f}" for row in found)
    return f"**{text}**" if found[0].expected else text


def _only(rows: Sequence[Row], world: str, team: str, effect: str, boards: int) -> Row:
    wanted = (world, team, effect, boards)
    return next(row for row in rows if (row.world, row.team, row.effect, row.boards) == wanted)


def _named(row: Row) -> str:
    return f"{row.world}, {row.team}, {row.effect}, {row.boards} boards"


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def write(folder: Path, out: Path, rows: Sequence[Row], seconds: float) -> None:
    """Write both files, with the commands and the CPU time."""
    played = {case: Played.read(folder, *case) for case in product(WORLDS, TEAMS)}
    minutes = sum(one.seconds for one in played.values()) / 60
    least = {world: min(played[world, team].scores.shape[1] for team in TEAMS) for world in WORLDS}
    numbers = ", ".join(f"{boards:,} in {world}" for world, boards in least.items())
    how = (
        f"`python -m benchmarks.validity.teams DIR` ({minutes:.0f} minutes of CPU), "
        f"`python -m benchmarks.validity DIR --out docs/validity` ({seconds / 60:.0f})"
    )
    what = f"boards of a team: {numbers}, in {POOLS} pools"
    out.mkdir(parents=True, exist_ok=True)
    with (out / "studies.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {how.replace('`', '')}; {what}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Row))
        for row in rows:
            values = (getattr(row, field.name) for field in fields(Row))
            table.writerow(f"{value:.4f}" if isinstance(value, float) else value for value in values)
    (out / "studies.md").write_text(page(rows, f"Measured on {__version__[:4]} with {how}; {what}."), encoding="utf-8")


def main() -> None:
    """Draw and judge the studies, and write what they find."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the played boards")
    parser.add_argument("--out", type=Path, default=Path("docs/validity"))
    parser.add_argument("--studies", type=int, default=400, help="studies of each team, world and number of boards")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    cases = list(product(WORLDS, TEAMS, BOARDS))
    with ProcessPoolExecutor(chosen.processes) as pool:
        measured = pool.map(partial(measure, chosen.folder, chosen.studies), cases)
        rows = [row for case in measured for row in case]
    write(chosen.folder, chosen.out, rows, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)


if __name__ == "__main__":
    main()
