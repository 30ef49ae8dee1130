"""What the verdicts of `quorum reproduce` become with more boards, for the simulated model and its floors.

    python benchmarks/reproduce_boards.py                        # all figures, at 6, 12 and 20 boards
    python benchmarks/reproduce_boards.py llamac-table2 --boards 6 12 --words engine.workers=2

It writes a file for programs, and prints the table of the guide from it: in each cell the numbers of points at each
size that the file has, in order.

Boards are nested: each size plays the missing ones of the size before. Grid transportation has ten frozen boards, which
are those of the seeds 0 to 9, so its boards are drawn here. Rows of other figures and sizes in the file stay.

Columns of the file: figure; comparison (the published model, or `our control`); team (`here`, `chance`, `echo`);
boards; the number of points with each verdict; of those, the points that differed at any smaller size and agree now,
those that were undecided at the size before and are decided now, and those that were decided and are undecided now.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from quorum.study.reproduce.figure_file import figure_names, load_figure
from quorum.study.reproduce.points import HERE, TEAMS, Point
from quorum.study.reproduce.run import answers
from quorum.study.reproduce.verdicts import Verdict
from quorum.sweeps.run import SweepRequest

FILE = Path(__file__).resolve().parents[1] / "docs" / "validity" / "reproduce.csv"
SIZES = (6, 12, 20)
FROZEN = ("llamac_table2", "llamac_ablations")
"""The experiments on frozen boards."""
DECIDED = (Verdict.AGREES, Verdict.DIFFERS)
KEYS = ("figure", "comparison", "team", "boards")
CHANGES = ("differs to agrees", "undecided to decided", "decided to undecided")
COLUMNS = (*KEYS, *(str(verdict) for verdict in Verdict), *CHANGES)
Row = Mapping[str, str | int]


def verdict_of(point: Point, team: str) -> str:
    """Return the verdict on a team; empty if it has none."""
    return str(point.verdict if team == HERE else getattr(point, team))


def changes(before: Sequence[str], now: str) -> list[str]:
    """Return the names of the changes since smaller sizes, given their verdicts in order."""
    last = before[-1] if before else now
    found = [
        Verdict.DIFFERS in before and now == Verdict.AGREES,
        last == Verdict.UNDECIDED and now in DECIDED,
        last in DECIDED and now == Verdict.UNDECIDED,
    ]
    return [name for name, holds in zip(CHANGES, found, strict=True) if holds]


def rows_of(figure: str, boards: int, points: Sequence[Point], before: Sequence[Sequence[Point]]) -> list[Row]:
    """Return the rows of a figure at one number of boards.

    Args:
        figure: its name.
        boards: the number of boards.
        points: its points.
        before: the same points over fewer boards, for each smaller size in order.
    """
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for place, point in enumerate(points):
        comparison = "our control" if point.control else point.model or "no model"
        for team in TEAMS:
            now = verdict_of(point, team)
            counts[comparison, team].update([now, *changes([verdict_of(own[place], team) for own in before], now)])
    rest = COLUMNS[len(KEYS) :]
    return [
        dict(zip(COLUMNS, (figure, comparison, team, boards, *(found[name] for name in rest)), strict=True))
        for (comparison, team), found in counts.items()
    ]


def play(name: str, boards: int, runs: Path, words: Sequence[str]) -> list[Point]:
    """Play a figure on the first boards, or only the missing ones, and return its points."""
    figure = load_figure(name)
    frozen = any(part.experiment in FROZEN for part in figure.parts)
    given = (f"seed=range(0,{boards})", *(["env.boards=drawn"] if frozen else []), *words)
    command = "python benchmarks/reproduce_boards.py"
    request = SweepRequest(given, runs / name, accept_versions=True, resume_command=command)
    found = list(answers(figure, request, quiet=True))
    if stuck := [swept.reason for answer in found for swept in answer.sweeps.values() if swept.stop is not None]:
        raise SystemExit(f"{name}, {boards} boards: {stuck[0]}")
    return [point for answer in found for point in answer.points]


def write(rows: Sequence[Row], file: Path) -> None:
    """Put rows into the file; they replace those with the same keys."""
    kept = list(csv.DictReader(file.read_text("utf-8").splitlines())) if file.exists() else []
    found = {tuple(str(row[key]) for key in KEYS): row for row in (*kept, *rows)}
    order = sorted(found, key=lambda key: (key[0], key[1], int(key[3]), TEAMS.index(key[2])))
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found[key] for key in order)


def markdown(file: Path) -> str:
    """Return the table of the guide: a row for each comparison, with the counts at each number of boards."""
    found: defaultdict[tuple[str, str], defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in csv.DictReader(file.read_text("utf-8").splitlines()):
        own = found[f"`{row['figure']}`", row["comparison"]]
        if row["team"] == HERE:
            own["boards"].append(row["boards"])
            for verdict in Verdict:
                own[verdict].append(row[verdict])
        else:
            own[f"{row['team']} agrees"].append(row[Verdict.AGREES])
    header = ("boards", *(str(verdict) for verdict in Verdict), *(f"{team} agrees" for team in TEAMS[1:]))
    lines = [("figure", "compared with", *header), ("---",) * (2 + len(header))]
    lines += [(*key, *(", ".join(own[name]) for name in header)) for key, own in found.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Play figures at each number of boards, and write the file after each."""
    parser = argparse.ArgumentParser(description="Verdicts of quorum reproduce by the number of boards.")
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="the figures (default: all)")
    parser.add_argument("--boards", type=int, nargs="+", default=SIZES, help="numbers of boards, ascending")
    parser.add_argument("--runs", type=Path, default=Path("runs/boards"), help="folder of the episodes")
    parser.add_argument("--out", type=Path, default=FILE, help="the file")
    parser.add_argument("--words", nargs="*", default=[], metavar="KEY=VALUE", help="arguments of the experiments")
    given = parser.parse_args()
    for name in given.figures or figure_names():
        before: list[list[Point]] = []
        for boards in given.boards:
            points = play(name, boards, given.runs, given.words)
            write(rows_of(name, boards, points, before), given.out)
            print(f"{name}, {boards} boards: {len(points)} points", file=sys.stderr, flush=True)
            before.append(points)
    print(markdown(given.out))


if __name__ == "__main__":
    main()
