"""Labelled failures: episodes that succeed, but fail for good with one wrong decision of one agent.

`faultless.py` makes failures without a fault.

python -m benchmarks.attribution.cases FOLDER --half open --count 300
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from heapq import nlargest
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

from benchmarks.attribution.faulty import FAULTS, Fault
from maeil.outcomes import Outcome
from maeil.trace import Instant, Stamped
from maeil.trace.events import EpisodeEnd, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.in_memory import play_in_memory
from quorum.episode.runner import run_cell
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.parent import Parent

CONFIGS = Path(__file__).with_name("configs")
LABELS, CANDIDATES = "labels.jsonl", "candidates.json"
HALVES = {"open": "benchmarks.attribution.faults", "hidden": "benchmarks.attribution.hidden"}
GENEROUS = 600
"""Number of steps within which a team without a fault must finish."""
SLACK = 1.2
"""The limit of a case, as a multiple of the steps that its team takes without a fault."""
KEPT = "kept"
"""The result of a candidate that is a case."""
LATEST = 4
"""A run that does not finish within this many times its limit has failed."""
TRIES = 4
"""Turns to try on one board before the next board."""
FAIR = 12
"""Candidates of a kind to try on a board; if none of them fails, the kind is not tried there again."""
MOST = 300
"""Maximum number of boards to try for one case."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Case:
    """A run that fails because of one decision, or without a wrong one.

    Attributes:
        name: of the folder of the run.
        run: the folder.
        agent: name of the agent that decides wrongly; None: nobody does.
        t: environment step of the decision; None: there is none.
        t_hat: cognitive time at which its thought starts; None: there is none.
        kind: kind of the fault, or of the failure without one.
        half: `open` or `hidden`.
        success: what counts as a success.
        margin: steps beyond its limit after which an unfinished run has failed; None: four times its limit.
    """

    name: str
    run: Path
    agent: str | None
    t: int | None
    t_hat: float | None
    kind: str
    half: str
    success: str = "success"
    margin: int | None = None


@dataclass(frozen=True, slots=True)
class Clean:
    """An episode without a fault.

    Attributes:
        cell: the cell that was played; its limit is a little more than its team needs.
        steps: number of steps; None if it does not succeed.
        events: events of its trace.
        thoughts: its turns, by the index of the agent, in order.
    """

    cell: Cell
    steps: int | None
    events: int
    thoughts: Mapping[int, Sequence[Stamped]] = field(repr=False)


def make_cases(folder: Path, half: str, count: int, seed: int = 0) -> Iterator[Case]:
    """Play pairs of episodes until `count` cases are found, with equal numbers of each kind as far as possible.

    Args:
        folder: folder of the runs, the labels and the numbers of candidates; created if necessary.
        half: `open` or `hidden`.
        count: number of cases.
        seed: of the draws of boards, agents and turns.

    Raises:
        FileExistsError: the folder already contains labels.
        RuntimeError: a kind hardly ever makes an episode fail.
    """
    kinds = kinds_of(half)
    folder.mkdir(parents=True, exist_ok=True)
    search = _Search(folder, half, random.Random(seed))
    with (folder / LABELS).open("x", encoding="utf-8") as labels:
        for number in range(count):
            case = search.case(kinds[number % len(kinds)])
            labels.write(json.dumps(written(case)) + "\n")
            labels.flush()
            (folder / CANDIDATES).write_text(json.dumps(search.found, indent=2) + "\n", encoding="utf-8")
            yield case
    _log.info("candidates: %s", json.dumps(search.found))


def written(case: Case) -> dict[str, Any]:
    """Return a case as a line of the labels."""
    return {**asdict(case), "run": case.run.name}


def read_cases(folder: Path) -> list[Case]:
    """Read the cases of a folder."""
    lines = (folder / LABELS).read_text(encoding="utf-8").splitlines()
    return [Case(**{**(label := json.loads(line)), "run": folder / label["run"]}) for line in lines]


def read_candidates(folder: Path) -> dict[str, dict[str, int]]:
    """Read the numbers of candidates: for each kind, how many were kept, and how many were discarded and why."""
    found: dict[str, dict[str, int]] = json.loads((folder / CANDIDATES).read_text(encoding="utf-8"))
    return found


def kinds_of(half: str) -> list[str]:
    """Return the kinds of faults of a half."""
    import_module(HALVES[half])  # registers its faults
    return [kind for kind, fault in FAULTS.items() if fault.happens.__module__ == HALVES[half]]


@dataclass
class _Search:
    """Searches for cases, and counts the candidates.

    Attributes:
        folder: folder of the runs.
        half: `open` or `hidden`.
        rng: draws boards, agents and turns.
        found: results of the candidates, by kind.
        tried: number of candidates, by kind and board.
        kept: number of candidates that are cases.
    """

    folder: Path
    half: str
    rng: random.Random
    found: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    kept: Counter[tuple[str, str]] = field(default_factory=Counter)

    def case(self, kind: str) -> Case:
        """Return the next case of a kind.

        Raises:
            RuntimeError: it hardly ever makes an episode fail.
        """
        source = import_module(HALVES[self.half])
        for _ in range(MOST):
            able = [words for words in source.BOARDS if self._may_fail(kind, words)]
            words = self.rng.choice(able or source.BOARDS)
            clean = _clean(words, source.FIRST_SEED + self.rng.randrange(1000))
            turns = _turns(clean, FAULTS[kind])
            self.tried[kind, words] += 0 if turns or clean.steps is None else FAIR
            self.found[kind]["fails without it"] += clean.steps is None
            for agent, turn in self._drawn(turns, clean) if clean.steps else ():
                cell = faulty(clean, kind, agent, turn)
                verdict, run = _verdict(cell, clean), self.folder / cell.name
                if verdict == KEPT and run.exists():
                    verdict = "known"
                elif verdict == KEPT:
                    run_cell(cell, self.folder)
                    if cell.configuration.uses_models and not fails_for_good(run):  # prompts show the limit
                        shutil.rmtree(run)
                        verdict = "late"
                self.found[kind][verdict] += 1
                self.tried[kind, words] += 1
                if verdict == KEPT:
                    self.kept[kind, words] += 1
                    start = clean.thoughts[agent][turn]
                    return Case(run.name, run, f"agent_{agent}", start.t, start.t_hat, kind, self.half)
        raise RuntimeError(f"{kind}: {MOST} boards in a row without a case: {dict(self.found[kind])}")

    def _drawn(self, turns: Sequence[tuple[int, int]], clean: Clean) -> Sequence[tuple[int, int]]:
        """Draw turns, giving each step the same weight; otherwise most would come from the first, when all decide."""
        steps = {turn: clean.thoughts[turn[0]][turn[1]].t for turn in turns}
        sizes = Counter(steps.values())
        return nlargest(TRIES, turns, key=lambda turn: self.rng.random() ** sizes[steps[turn]])

    def _may_fail(self, kind: str, words: str) -> bool:
        """Whether a kind has made an episode fail on a board, or has hardly been tried there."""
        return self.kept[kind, words] > 0 or self.tried[kind, words] < FAIR


def faulty(clean: Clean, kind: str, agent: int, turn: int) -> Cell:
    """Return the cell of the same episode with a fault."""
    name = "faulty_models" if clean.cell.configuration.uses_models else "faulty"
    base = clean.cell.plain["agents"]
    agents = {"name": name, "base": base, "kind": kind, "agent": agent, "turn": turn}
    return Cell.of({**clean.cell.plain, "agents": agents})


def fails_for_good(run: Path) -> bool:
    """Whether a run, continued from its last turn, does not finish within four times its limit."""
    parent = Parent.open(run)
    last, limit = parent.episode.story.thoughts[-1].start, parent.configuration.max_steps
    change = Change((f"max_steps={LATEST * limit}",))
    events: list[Stamped] = []
    planned = parent.branch(Instant(last.t, last.t_hat), change)
    play_in_memory(planned.cell, [events.append], start=planned.start)
    return steps_of(events) is None


def limited(plain: Mapping[str, Any], limit: int) -> Mapping[str, Any]:
    """Return a configuration with another limit."""
    return {**plain, "max_steps": limit, "env": {**plain["env"], "max_steps": limit}}


@cache
def composed(words: str) -> Cell:
    """Compose a configuration with the generous limit."""
    return Cell.compose([*words.split(), f"max_steps={GENEROUS}"], CONFIGS)


@cache
def _clean(words: str, seed: int) -> Clean:
    """Play an episode without a fault, and again with the limit of its cases, which models see."""
    cell = Cell.of({**composed(words).plain, "seed": seed})
    steps, events = steps_of(played(cell)), []
    if steps is not None:
        cell = Cell.of(limited(cell.plain, ceil(SLACK * steps)))
        events = played(cell)
        steps = steps_of(events)
    thoughts: dict[int, list[Stamped]] = {}
    for stamped in events:
        if isinstance(stamped.event, ThoughtStart) and not stamped.event.problems:
            thoughts.setdefault(stamped.event.agent, []).append(stamped)
    return Clean(cell, steps, len(events), thoughts)


def steps_of(events: Sequence[Stamped]) -> int | None:
    """Return the steps of an episode that succeeds; None for one that does not."""
    end = events[-1].event
    return end.steps if isinstance(end, EpisodeEnd) and end.outcome == Outcome.SUCCESS else None


def _turns(clean: Clean, fault: Fault) -> list[tuple[int, int]]:
    """Return the turns that a fault can use: the agent, and the number among its turns."""
    return [
        (agent, turn)
        for agent, starts in clean.thoughts.items()
        for turn, start in enumerate(starts)
        if agent < clean.cell.configuration.n
        and isinstance(start.event, ThoughtStart)
        and fault.act in start.event.acts
    ]


def _verdict(cell: Cell, clean: Clean) -> str:
    """Play an episode with a fault to its latest end, and return its result: `KEPT`, or why it is not a case."""
    limit = cell.configuration.max_steps
    try:
        events = played(Cell.of(limited(cell.plain, LATEST * limit)))
    except Exception as error:  # a world may raise in a state that its own rules never reach
        _log.warning("%s: %r", cell.name, error)
        return "error"
    end = events[-1].event
    if not isinstance(end, EpisodeEnd) or end.outcome == Outcome.ERROR:
        return "error"
    if end.outcome != Outcome.SUCCESS:
        return KEPT
    if end.steps > limit:
        return "late"
    return "no change" if (end.steps, len(events)) == (clean.steps, clean.events) else "harmless"


def played(cell: Cell) -> list[Stamped]:
    """Play an episode in memory, and return its events."""
    events: list[Stamped] = []
    play_in_memory(cell, [events.append])
    return events


def main() -> None:
    """Make the cases of a half, and print a line for each."""
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
