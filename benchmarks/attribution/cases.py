"""Labelled failures: episodes that succeed, and fail for good with one wrong decision of one agent.

python -m benchmarks.attribution.cases FOLDER --half open --count 300
"""

from __future__ import annotations

import argparse
import json
import logging
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

from benchmarks.attribution.faulty import FAULTS, Fault
from maeil.trace import Stamped
from maeil.trace.events import EpisodeEnd, ThoughtStart
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.plugins import load_plugins
from quorum.experiments.episode.in_memory import play_in_memory
from quorum.experiments.episode.runner import run_cell

CONFIGS = Path(__file__).with_name("configs")
LABELS, CANDIDATES = "labels.jsonl", "candidates.json"
HALVES = {"open": "benchmarks.attribution.faults", "hidden": "benchmarks.attribution.hidden"}
GENEROUS = 600
"""Steps in which a team without a fault must finish."""
SLACK = 1.2
"""The limit of a case, in terms of the steps that its team takes without a fault."""
LATEST = 4
"""A run that does not finish within this many times its limit has failed."""
TRIES = 4
"""Turns of one board that are tried before the next board."""
MOST = 200
"""Boards that are tried for one case, at most."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Case:
    """A run that fails because of one decision.

    Attributes:
        name: of the folder of the run.
        run: the folder.
        agent: name of the agent that decides wrongly.
        t: environment step of the decision.
        t_hat: cognitive time at which its thought starts.
        kind: what goes wrong.
        half: `open` or `hidden`.
    """

    name: str
    run: Path
    agent: str
    t: int
    t_hat: float
    kind: str
    half: str


@dataclass(frozen=True, slots=True)
class Clean:
    """An episode without a fault.

    Attributes:
        cell: what was played.
        steps: that it took; None if it does not succeed.
        thoughts: its turns, by the index of the agent, in order.
    """

    cell: Cell
    steps: int | None
    thoughts: Mapping[int, Sequence[Stamped]] = field(repr=False)


def make_cases(folder: Path, half: str, count: int, seed: int = 0) -> Iterator[Case]:
    """Play pairs of episodes until so many cases are found, the same number of each kind as far as possible.

    Args:
        folder: for the runs, the labels and the numbers of candidates; made if it is not there.
        half: `open` or `hidden`.
        count: number of cases.
        seed: of the draws of boards, agents and turns.

    Raises:
        FileExistsError: the folder holds labels already.
        RuntimeError: a kind hardly ever makes an episode fail.
    """
    kinds = kinds_of(half)
    folder.mkdir(parents=True, exist_ok=True)
    rng, thrown = random.Random(seed), {kind: Counter[str]() for kind in kinds}
    with (folder / LABELS).open("x", encoding="utf-8") as labels:
        for number in range(count):
            kind = kinds[number % len(kinds)]
            case = _case(folder, half, kind, rng, thrown[kind])
            labels.write(json.dumps({**asdict(case), "run": case.run.name}) + "\n")
            labels.flush()
            (folder / CANDIDATES).write_text(json.dumps(thrown, indent=2) + "\n", encoding="utf-8")
            yield case
    _log.info("candidates: %s", json.dumps(thrown))


def read_cases(folder: Path) -> list[Case]:
    """Read the cases that were made in a folder."""
    lines = (folder / LABELS).read_text(encoding="utf-8").splitlines()
    return [Case(**{**(label := json.loads(line)), "run": folder / label["run"]}) for line in lines]


def kinds_of(half: str) -> list[str]:
    """Return the kinds of faults of a half."""
    load_plugins([HALVES[half]])
    return [kind for kind, fault in FAULTS.items() if fault.happens.__module__ == HALVES[half]]


def _case(folder: Path, half: str, kind: str, rng: random.Random, found: Counter[str]) -> Case:
    source = import_module(HALVES[half])
    for _ in range(MOST):
        words, number = rng.choice(source.BOARDS), source.FIRST_SEED + rng.randrange(1000)
        clean = _clean(words, number)
        turns = _turns(clean, FAULTS[kind])
        if clean.steps is None or not turns:
            found["no turn" if clean.steps else "fails without it"] += 1
            continue
        for agent, turn in rng.sample(turns, min(TRIES, len(turns))):
            cell = faulty(clean.cell, kind, agent, turn, ceil(SLACK * clean.steps))
            verdict = _verdict(cell)
            found[verdict] += 1
            if verdict == "kept" and not (folder / cell.name).exists():
                run = run_cell(cell, folder).folder
                start = clean.thoughts[agent][turn]
                return Case(run.name, run, f"agent_{agent}", start.t, start.t_hat, kind, half)
    raise RuntimeError(f"{kind}: none of {MOST} boards fails: {dict(found)}")


def faulty(clean: Cell, kind: str, agent: int, turn: int, limit: int) -> Cell:
    """Return the cell of an episode with a fault, and with this limit."""
    base = clean.plain["agents"]
    name = "faulty_models" if clean.configuration.uses_models else "faulty"
    agents = {"name": name, "base": base, "kind": kind, "agent": agent, "turn": turn}
    return _limited({**clean.plain, "agents": agents}, limit)


def _limited(plain: Mapping[str, Any], limit: int) -> Cell:
    return Cell.of({**plain, "max_steps": limit, "env": {**plain["env"], "max_steps": limit}})


@cache
def _composed(words: str) -> Cell:
    return Cell.compose([*words.split(), f"max_steps={GENEROUS}"])


@cache
def _clean(words: str, seed: int) -> Clean:
    cell = Cell.of({**_composed(words).plain, "seed": seed})
    events = _played(cell)
    end = events[-1].event
    finished = isinstance(end, EpisodeEnd) and end.outcome == "success"
    thoughts: dict[int, list[Stamped]] = {}
    for stamped in events:
        if isinstance(stamped.event, ThoughtStart) and not stamped.event.problems:
            thoughts.setdefault(stamped.event.agent, []).append(stamped)
    return Clean(cell, end.steps if isinstance(end, EpisodeEnd) and finished else None, thoughts)


def _turns(clean: Clean, fault: Fault) -> list[tuple[int, int]]:
    """Return the turns that allow what a fault needs: the agent, and the number among its turns."""
    return [
        (agent, turn)
        for agent, starts in clean.thoughts.items()
        for turn, start in enumerate(starts)
        if agent < clean.cell.configuration.n
        and isinstance(start.event, ThoughtStart)
        and fault.act in start.event.acts
    ]


def _verdict(cell: Cell) -> str:
    """Play an episode with a fault to its latest end, and say what comes of it: `kept`, or why it is no case."""
    try:
        end = _played(_limited(cell.plain, LATEST * cell.configuration.max_steps))[-1].event
    except Exception:
        return "error"
    if not isinstance(end, EpisodeEnd) or end.outcome == "error":
        return "error"
    if end.outcome != "success":
        return "kept"
    return "late" if end.steps > cell.configuration.max_steps else "harmless"


def _played(cell: Cell) -> list[Stamped]:
    events: list[Stamped] = []
    play_in_memory(cell, [events.append])
    return events


def main() -> None:
    """Make the cases of a half, a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=HALVES, default="open")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for case in make_cases(chosen.folder, chosen.half, chosen.count, chosen.seed):
        print(case.name, case.kind, case.agent, case.t, flush=True)
    print((chosen.folder / CANDIDATES).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
