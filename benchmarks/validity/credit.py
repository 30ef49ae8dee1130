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
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.validity.teams import CONFIGS
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
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


def write(out: Path, found: Mapping[tuple[str, str, Kind], Sequence[Ranked]], seconds: float) -> None:
    """Write both files, with the command and the CPU time."""
    boards = len(next(iter(found.values())))
    how = f"`python -m benchmarks.validity.credit --out docs/validity` ({seconds / 60:.0f} minutes of CPU)"
    out.mkdir(parents=True, exist_ok=True)
    with (out / "credit.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {how.replace('`', '')}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("world", "planted", "credit", "boards", "differ", "ranked", "error", "chance"))
        for (world, plant, kind), ranked in found.items():
            share, error = _share([one.place for one in ranked])
            differ = sum(one.some for one in ranked)
            table.writerow((world, plant, kind, boards, differ, f"{share:.4f}", f"{error:.4f}", CHANCE))
    text = (
        f"A team of {N} with one planted agent, another one on each of {boards} boards. The agents follow the rules in "
        f"{OFTEN:.0%} of their turns to plan, but the `useless` one in {SELDOM:.0%}: it must have the lowest credit. "
        f"Or they do so in {SELDOM:.0%}, but the `decisive` one in {OFTEN:.0%}: it must have the highest. If several "
        "agents share this place, the run counts as the inverse of their number. A ranking by chance gives "
        f"{CHANCE:.0%}. In brackets one standard error. Measured with {how}."
    )
    lines = [
        *textwrap.wrap(text, 140, break_long_words=False, break_on_hyphens=False),
        "",
        f"| world | planted | {' | '.join(f'`{kind}`' for kind in COLUMNS)} |",
        f"|---|---|{'---|' * len(COLUMNS)}",
    ]
    for world, plant in product(WORLDS, PLANTED):
        shares = (_share([one.place for one in found[world, plant, kind]]) for kind in COLUMNS)
        lines.append(f"| {world} | {plant} | {' | '.join(f'{share:.0%} ({error:.0%})' for share, error in shares)} |")
    (out / "credit.md").write_text("\n".join((*lines, "")), encoding="utf-8")


def _share(values: Sequence[float]) -> tuple[float, float]:
    """Return a mean and its standard error."""
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1) / len(values))


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
    found = {
        (world, plant, kind): [one[kind] for one, case in zip(ranked, cases, strict=True) if case[:2] == (world, plant)]
        for world, plant, kind in product(WORLDS, PLANTED, COLUMNS)
    }
    write(chosen.out, found, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)


if __name__ == "__main__":
    main()
