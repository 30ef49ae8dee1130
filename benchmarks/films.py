"""How long a film of an episode takes, and how large it gets: a team on CUBE, one on the open world.

Every run is played first; then each film is made several times in this process, and the median counts. The first time
warms up and is not counted.

python benchmarks/films.py [RUNS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from quorum.experiments.common.outputs import Output
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell
from quorum.experiments.replay.film import FilmFile, check_target, make_film
from quorum.experiments.replay.replay import prepare_replay
from quorum.experiments.results.recorded_episode import open_episode

STEPS = 300
CELLS = {
    "CUBE, 8 agents that debate, most of whose answers are malformed": [
        "n=8", "agents=naive", "topology=debate", "max_repairs=0", "llm.malformed=0.97",
    ],
    "CUBE, 256 agents": ["n=256"],
    "Crafter, 3 agents": ["env=crafter_coop2"],
}  # fmt: skip
ENDINGS = (".gif", ".mp4")


def main(runs: int) -> None:
    """Measure and print."""
    table = Table(title=f"films, median of {runs}")
    for column in ("episode", "steps", "pixels", "film", "seconds", "kB"):
        table.add_column(column)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, arguments in CELLS.items():
            result = run_cell(Cell.compose([*arguments, f"max_steps={STEPS}"]), folder)
            for ending in ENDINGS:
                times, film = _measured(result.folder, folder / f"film{ending}", runs)
                width, height = film.size
                table.add_row(
                    title, str(film.frames - 1), f"{width} x {height}", ending, f"{median(times):.2f}",
                    f"{film.bytes / 1000:,.0f}",
                )  # fmt: skip
    Console().print(table)


def _measured(run: Path, file: Path, runs: int) -> tuple[list[float], FilmFile]:
    times, output = [], Output(file, "--out", force=True)
    for _ in range(runs + 1):
        begin = time.perf_counter()
        film = make_film(
            prepare_replay([open_episode(run)], 0, None),
            output,
            check_target(output, None),
            fps=8,
            width=None,
            console=None,
        )
        times.append(time.perf_counter() - begin)
    return times[1:], film


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
