"""Whether credits rank a planted agent: python -m benchmarks.validity.credit --out docs/validity.

In a team of four, each agent follows the rules in most of its turns, but one of them idles in most (`useless`); or the
other way round (`decisive`). The planted agent differs from board to board. Credits must rank the useless agent last
and the decisive one first. Writes `credit.csv` and `credit.md`, in a few minutes.
"""

from __future__ import annotations

import argparse
import csv
import math
import resource
import textwrap
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.validity.teams import CONFIGS
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.installation.version import __version__
from quorum.what_if.blame.credit import Kind, credits_of

N = 4
WORLDS = {
    "CUBE": f"env=cube n={N} env.side=8 env.blocks={{1:4}} max_steps=40",
    "foraging": f"env=foraging n={N} env.side=8 env.foods=4 env.max_food_level=1 max_steps=20",
}
"""The worlds, with tasks that one agent can do alone, so that an agent can be decisive."""
OFTEN, SELDOM = 0.9, 0.1
PLANTED = {"useless": (OFTEN, SELDOM), "decisive": (SELDOM, OFTEN)}
"""How often the agents of the team, and the planted agent, follow the rules."""
COLUMNS = {Kind.AGENT: "difference", Kind.LIVE: "live_difference"}
CHANCE = 1 / N


@dataclass(frozen=True, slots=True)
class Ranked:
    """How a credit ranks the planted agent of a run.

    Attributes:
        place: whether it has the place that it must have; if k agents share this place, 1 / k.
        some: whether any two agents have different credits.
    """

    place: float
    some: bool

    @classmethod
    def of(cls, worths: Sequence[float], agent: int, plant: str) -> Ranked:
        """Rank an agent.

        Args:
            worths: the credit of each agent.
            agent: the planted one.
            plant: `useless`, which must be last, or `decisive`, which must be first.
        """
        extreme = min(worths) if plant == "useless" else max(worths)
        shared = sum(worth == extreme for worth in worths)
        return cls(1 / shared if worths[agent] == extreme else 0.0, len(set(worths)) > 1)


@cache
def _cell(words: str, plant: str, agent: int) -> Cell:
    team, own = PLANTED[plant]
    skills = (f"agents.skill={team}", f"agents.skill_then={team}", f"agents.odd={agent}", f"agents.odd_skill={own}")
    return Cell.compose([*words.split(), "agents=planted", *skills], CONFIGS)


def measure(case: tuple[str, str, int]) -> Mapping[Kind, Ranked]:
    """Play a team in a world on a board, and rank its planted agent by each credit."""
    world, plant, board = case
    agent = board % N
    cell = _cell(WORLDS[world], plant, agent)
    with TemporaryDirectory() as folder:
        run = run_cell(cell.alike({**cell.plain, "seed": board}), Path(folder)).folder
        rows = credits_of(run, list(COLUMNS)).rows["agent"]
    worths = {kind: [float(rows[f"agent_{one}"][column] or 0) for one in range(N)] for kind, column in COLUMNS.items()}
    return {kind: Ranked.of(values, agent, plant) for kind, values in worths.items()}


@dataclass(frozen=True, slots=True)
class Row:
    """How a credit ranks the planted agents of many runs.

    Attributes:
        world: one of `WORLDS`.
        planted: one of `PLANTED`.
        credit: the credit.
        boards: number of runs.
        differ: number of runs in which any two agents have different credits.
        ranked: share of runs in which the planted agent has the place that it must have.
        error: standard error of the share.
    """

    world: str
    planted: str
    credit: str
    boards: int
    differ: int
    ranked: float
    error: float

    @classmethod
    def of(cls, world: str, planted: str, credit: str, found: Sequence[Ranked]) -> Row:
        """Summarize the runs of a world, a plant and a credit."""
        places = [one.place for one in found]
        mean = math.fsum(places) / len(places)
        error = math.sqrt(math.fsum((place - mean) ** 2 for place in places) / (len(places) - 1) / len(places))
        return cls(world, planted, credit, len(found), sum(one.some for one in found), mean, error)


def page(rows: Sequence[Row], how: str) -> str:
    """Return the Markdown of the page."""
    text = (
        f"A team of {N} with one planted agent, another one on each of {rows[0].boards} boards. The agents follow the "
        f"rules in {OFTEN:.0%} of their turns to plan, but the `useless` one in {SELDOM:.0%}: it must have the lowest "
        f"credit. Or they do so in {SELDOM:.0%}, but the `decisive` one in {OFTEN:.0%}: it must have the highest. If "
        "several agents share this place, the run counts as the inverse of their number. A ranking by chance gives "
        f"{CHANCE:.0%}. In brackets one standard error; then the number of runs in which any two credits differ. The "
        "rules give each agent a task, and often agents of different skill finish the same number of tasks, so 100% is "
        f"out of reach. Measured on {__version__.rpartition('.')[0]} with {how}."
    )
    lines = [
        f"| world | planted | {' | '.join(f'`{kind}`' for kind in COLUMNS)} |",
        f"|---|---|{'---|' * len(COLUMNS)}",
    ]
    for world, plant in product(WORLDS, PLANTED):
        some = (row for row in rows if (row.world, row.planted) == (world, plant))
        cells = (f"{row.ranked:.0%} ({row.error:.0%}); {row.differ}" for row in some)
        lines.append(f"| {world} | {plant} | {' | '.join(cells)} |")
    wrapped = textwrap.wrap(text, 140, break_long_words=False, break_on_hyphens=False)
    return "\n".join(("# Credits of planted agents", "", *wrapped, "", *lines, ""))


def write(out: Path, rows: Sequence[Row], seconds: float) -> None:
    """Write both files, with the command and the CPU time."""
    how = f"`python -m benchmarks.validity.credit --out docs/validity` ({seconds:.0f} seconds of CPU)"
    out.mkdir(parents=True, exist_ok=True)
    with (out / "credit.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {how.replace('`', '')}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Row))
        for row in rows:
            values = (getattr(row, field.name) for field in fields(Row))
            table.writerow(f"{value:.4f}" if isinstance(value, float) else value for value in values)
    (out / "credit.md").write_text(page(rows, how), encoding="utf-8")


def main() -> None:
    """Measure all worlds and plants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/validity"))
    parser.add_argument("--boards", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    cases = list(product(WORLDS, PLANTED, range(chosen.boards)))
    with ProcessPoolExecutor(chosen.processes) as pool:
        ranked = list(pool.map(measure, cases, chunksize=5))
    rows = [
        Row.of(*of, kind, [one[kind] for one, case in zip(ranked, cases, strict=True) if case[:2] == of])
        for of in product(WORLDS, PLANTED)
        for kind in COLUMNS
    ]
    write(chosen.out, rows, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)


if __name__ == "__main__":
    main()
