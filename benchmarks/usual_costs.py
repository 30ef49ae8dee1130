"""What episodes of common teams take with the simulated model.

The estimates of `quorum run` and `quorum sweep --dry-run` rest on these figures
(`experiments/episode/usual_costs.json`). For each world, team and topology this plays two boards, after one that is not
counted, which compiles: of three agents, with all else by default; of teams that only a named experiment has, the
smallest there. Teams in the file are kept: empty it (`[]`) to play all.

python benchmarks/usual_costs.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson

from maeil.trace import read_trace
from maeil.trace.events import ThoughtStart
from maeil.user_errors import UserError
from quorum.agents.llm.providers.base import SIMULATED
from quorum.experiments.configuration.catalogue import EXPERIMENT, options
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.compose import compose
from quorum.experiments.configuration.team_label import team_label
from quorum.experiments.episode.expected import FIGURES
from quorum.experiments.episode.runner import Result, run_cell
from quorum.experiments.sweep.plan import plan

BOARDS = 2
"""Episodes of each team."""
COMMON = tuple(
    f"{world} agents={minds} topology={topology}"
    for world in (
        *(f"env={name} n=3" for name in ("cube", "crafter_coop", "transport", "squeeze", "foraging")),
        "env=overcooked",  # for as many as its layout takes
    )
    for minds, topology in (
        ("naive", "individual"), ("naive", "debate"), ("naive", "centralized"), ("naive", "decentralized"),
        ("heuristic", "individual"), ("planner", "centralized"), ("negotiator", "debate"), ("tom", "individual"),
        ("tom", "debate"), ("cmas", "centralized"), ("dmas", "individual"), ("hmas1", "centralized"),
        ("hmas2", "centralized"), ("drwell", "negotiation"), ("llamac", "centralized"), ("debaters", "centralized"),
    )
)  # fmt: skip
"""Teams that are played with what their world has by default."""


def main() -> None:
    """Play the teams and write their figures."""
    teams: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    experiments = sorted(_of_experiments(), key=lambda raw: (raw["n"] < 2, raw["n"]))
    for raw in (*_by_default(), *experiments):
        teams.setdefault((raw["env"]["name"], team_label(raw["agents"]), raw["topology"]["name"]), []).append(raw)
    found = orjson.loads(FIGURES.read_bytes())
    known = {(entry["world"], entry["minds"], entry["topology"]) for entry in found}
    for world, minds, topology in sorted(teams.keys() - known):
        for raw in teams[world, minds, topology]:
            if results := list(_played(raw)):
                found.append(_figures(world, minds, topology, raw, results))
                print(orjson.dumps(found[-1]).decode(), flush=True)
                break
    found.sort(key=lambda entry: (entry["world"], entry["minds"], entry["topology"]))
    text = ",\n".join(orjson.dumps(entry).decode() for entry in found)
    FIGURES.write_text(f"[\n{text}\n]\n", encoding="utf-8")


def _of_experiments() -> Iterator[Mapping[str, Any]]:
    for option in options():
        if option.group == EXPERIMENT:
            for cell in plan([f"{EXPERIMENT}={option.name}"]).cells:
                raw: dict[str, Any] = orjson.loads(cell.configuration)
                yield raw


def _by_default() -> Iterator[Mapping[str, Any]]:
    for words in COMMON:
        try:
            yield Cell.compose(words.split()).plain
        except UserError as error:
            print(f"{words}: {error}")


def _played(raw: Mapping[str, Any]) -> Iterator[tuple[Result, int]]:
    """Play the boards, and count thoughts; nothing for minds that do not know the world."""
    llm = raw["llm"] if raw["llm"]["name"] == SIMULATED else compose([f"llm={SIMULATED}"])["llm"]
    for board in range(BOARDS + 1):
        cell = Cell.of({**raw, "llm": llm, "seed": board, "episode": 0, "budget": dict.fromkeys(raw["budget"])})
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = run_cell(cell, Path(folder))
            except UserError as error:
                print(f"{cell.name}: {error}")
                return
            thoughts = sum(isinstance(s.event, ThoughtStart) for s in read_trace(result.folder).events)
        if board:
            yield result, thoughts


def _figures(
    world: str, minds: str, topology: str, raw: Mapping[str, Any], results: Sequence[tuple[Result, int]]
) -> Mapping[str, Any]:
    def mean(name: str) -> float:
        return round(fmean(float(result.metrics[name] or 0) for result, _ in results), 2)

    return {
        "world": world,
        "minds": minds,
        "topology": topology,
        "n": raw["n"],
        "steps": mean("outcome.steps"),
        "completed": all(float(result.metrics["outcome.steps"] or 0) < raw["max_steps"] for result, _ in results),
        "thoughts": fmean(thoughts for _, thoughts in results),
        "answers": mean("model.answers"),
        "prompt": mean("model.prompt_tokens"),
        "completion": mean("model.completion_tokens"),
        "seconds": round(fmean(result.seconds for result, _ in results), 3),
    }


if __name__ == "__main__":
    main()
