"""Planted teams, the signs of their effects, and their boards: python -m benchmarks.validity.teams DIR.

Plays each team in three worlds with the arms that `quorum study talk` makes of it, in the loop and with the control
extensions, and writes the main metric of each arm and board to DIR. Blocks of boards that are there stay. Half an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count, product, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.planted import Cause
from maeil.metrics import METRICS
from maeil.trace import Recorder, Stamped, Trace
from maeil.world import closing_world
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build
from quorum.episode.parts import play as play_cell
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.runner import run_cell
from quorum.study.arms import Arm, ArmsPlanner, Treatment, arms_of, experiment_of
from quorum.study.donors import DONORS, write_donors
from quorum.study.question import AGAIN, TREATMENT, load_question
from quorum.study.study import Study, StudyRequest

CONFIGS = Path(__file__).with_name("configs")


@dataclass(frozen=True, slots=True)
class Small:
    """A world with small boards and a short limit, so that an episode takes milliseconds.

    Attributes:
        words: its arguments.
        block: boards of a file; half as many if an episode takes several times as long.
    """

    words: str
    block: int


WORLDS = {
    "CUBE": Small("env=cube n=2 env.side=8 env.blocks={1:2,2:1} max_steps=80", 100),
    "foraging": Small("env=foraging n=2 env.side=6 env.foods=3 max_steps=12", 100),
    "open world": Small("env=crafter_coop n=2 max_steps=24", 50),
}
SKILL = 0.5
"""Probability that an agent follows the rules before it has met its cause."""


@dataclass(frozen=True, slots=True)
class Team:
    """A planted team.

    Attributes:
        cause: what changes the skill of its agents.
        skill: their skill once they have met it.
    """

    cause: Cause
    skill: float


TEAMS = {
    "help": Team(Cause.CONTENT, 0.9),
    "weak help": Team(Cause.CONTENT, 0.65),
    "harm": Team(Cause.CONTENT, 0.2),
    "turns": Team(Cause.TURN, 0.9),
    "waking": Team(Cause.MESSAGE, 0.9),
    "words": Team(Cause.WORDS, 0.9),
    "none": Team(Cause.NOTHING, SKILL),
}
EFFECTS = ("total", "turns", "envelope", "content", "own", "shuffled", "truth", "truth instead")
EXPECTED = {
    "help": "+ 0 0 + 0 0 0 -",
    "weak help": "+ 0 0 + 0 0 0 -",
    "harm": "- 0 0 - 0 0 0 +",
    "turns": "+ + 0 0 0 0 0 0",
    "waking": "+ 0 + 0 0 0 0 0",
    "words": "+ 0 0 + + + + 0",
    "none": "0 0 0 0 0 0 0 0",
}
"""The sign of each of `EFFECTS` by construction, written before the first study: + better, - worse, 0 none.

A text in the arm `own` is by its reader, a text in `shuffled` about another board, and one in `truth` names neither
board nor author: none of them is `content`, and all of them are `words`.
"""
ARMS = (TREATMENT, AGAIN, "silent", "mute", "null", "own", "shuffled", "truth")
"""The arms that these effects and the noise floor need. The floors `chance` and `echo` need a language model."""
DONOR_BOARDS = 8
"""Boards with the messages that the arm `shuffled` reads; no study has them."""
_APART = 100_000
"""Distance between the first boards of two teams: no two teams share a board."""


def expected(team: str) -> Mapping[str, int]:
    """Return the sign of each effect of a team: 1 better, -1 worse, 0 none."""
    signs = {"+": 1, "0": 0, "-": -1}
    return {effect: signs[sign] for effect, sign in zip(EFFECTS, EXPECTED[team].split(), strict=True)}


@dataclass(frozen=True, slots=True)
class Arms:
    """The arms of a study of a planted team.

    Attributes:
        cells: the cell of each of `ARMS` on the first board.
        metric: the main metric of the study.
    """

    cells: Mapping[str, Cell]
    metric: str

    @classmethod
    def of(cls, world: str, team: str, folder: Path) -> Arms:
        """Make the arms as `quorum study talk` does, and play the boards whose messages the arm `shuffled` reads.

        Args:
            world: one of `WORLDS`.
            team: one of `TEAMS`.
            folder: an empty folder, which must exist until the last board is played.
        """
        study = study_of(world, team, folder)
        first, donors = _APART * (1 + list(TEAMS).index(team)), folder / DONORS
        talking = planned({TREATMENT: study.arms[TREATMENT]}, range(first, first + DONOR_BOARDS))
        write_donors([run_cell(one.cell(), folder).folder for one in talking], donors)
        arms = {name: arm.reading(donors) if arm.donors else arm for name, arm in study.arms.items() if name in ARMS}
        cells = {one.arm or "": one.cell() for one in planned(arms, [first + DONOR_BOARDS])}
        return cls({name: cells[name] for name in ARMS}, study.metrics[0])

    def score(self, arm: str, board: int, draw: int | None = None) -> float:
        """Play an arm on a board, in its own draw or in another one, and return the main metric."""
        events: list[Stamped] = []
        cell = self.cells[arm]
        asyncio.run(_played(placed(cell, cell.seed + board, draw), events))
        value = METRICS[self.metric].function(Trace(events))
        assert value is not None
        return float(value)


def study_of(world: str, team: str, out: Path) -> Study:
    """Return the study of a team, `quorum study talk`, without a check that its arms can be played."""
    planted = TEAMS[team]
    mind = f"agents=planted agents.cause={planted.cause} agents.skill={SKILL} agents.skill_then={planted.skill}"
    words = (*WORLDS[world].words.split(), *mind.split(), "topology=debate")
    question, treatment = load_question("talk"), Treatment.of(words, CONFIGS)
    request = StudyRequest(words, out, question="talk", config_dir=CONFIGS)
    return Study(request, question, treatment, dict(arms_of(question, treatment)), {})


def planned(arms: Mapping[str, Arm], seeds: Sequence[int]) -> Sequence[PlannedCell]:
    """Plan arms on some boards as the study does."""
    return ArmsPlanner(experiment_of(arms, seeds, ())).plan((), CONFIGS).cells


def placed(cell: Cell, seed: int, draw: int | None = None) -> Cell:
    """Return a cell on another board, in the same draw or in another one."""
    return cell.alike({**cell.plain, "seed": seed, "draw": cell.configuration.draw if draw is None else draw})


async def _played(cell: Cell, events: list[Stamped]) -> None:
    parts = build(cell, no_models)
    with closing_world(parts.world), Recorder(None, [events.append]) as recorder:
        await play_cell(cell, parts, recorder)


@dataclass(frozen=True, slots=True)
class Played:
    """The played boards of a team.

    Attributes:
        scores: main metric, shape (arms, boards).
        metric: its name.
        seconds: CPU time.
    """

    scores: NDArray[np.float64]
    metric: str
    seconds: float

    @classmethod
    def read(cls, folder: Path, world: str, team: str) -> Played:
        """Read all blocks of a team.

        Raises:
            FileNotFoundError: there is none.
        """
        files = list(takewhile(Path.exists, (file_of(folder, world, team, block) for block in count())))
        if not files:
            raise FileNotFoundError(f"{folder} has no boards of {team} in {world}: play them first")
        found = [np.load(file) for file in files]
        scores = np.concatenate([one["scores"] for one in found], axis=1)
        return cls(scores, str(found[0]["metric"]), sum(float(one["seconds"]) for one in found))

    def write(self, folder: Path, world: str, team: str, block: int = 0) -> None:
        """Write a block."""
        file = file_of(folder, world, team, block)
        partial_file = file.with_suffix(".partial.npz")
        np.savez(partial_file, scores=self.scores, metric=self.metric, seconds=self.seconds)
        partial_file.rename(file)


def file_of(folder: Path, world: str, team: str, block: int) -> Path:
    """Return the file of a block of boards of a team."""
    return folder / f"{world}-{team}-{block}.npz".replace(" ", "-")


def play(folder: Path, case: tuple[int, str, str]) -> None:
    """Play all arms of a team in a world on a block of boards, and write them to a folder, unless they are there."""
    block, world, team = case
    if file_of(folder, world, team, block).exists():
        return
    with TemporaryDirectory() as made:
        arms = Arms.of(world, team, Path(made))
        begin = time.process_time()
        size = WORLDS[world].block
        boards = range(block * size, (block + 1) * size)
        scores = np.array([[arms.score(arm, board) for board in boards] for arm in ARMS])
        seconds = time.process_time() - begin
    Played(scores, arms.metric, seconds).write(folder, world, team, block)
    print(f"{world}, {team}, {block}: {1000 * seconds / scores.size:.1f} ms of CPU an episode", flush=True)


def main() -> None:
    """Play all teams in all worlds, block by block."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--blocks", type=int, default=10, help="blocks of boards of each team")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    cases = product(range(chosen.blocks), WORLDS, TEAMS)
    with ProcessPoolExecutor(chosen.processes) as pool:
        list(pool.map(partial(play, chosen.folder), cases))


if __name__ == "__main__":
    main()
