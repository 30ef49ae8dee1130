"""How a real model plays every world, compared with chance: the table of `docs/real-models.md`.

python examples/gguf_server.py --context 8192             # in another terminal; or any server with OpenAI's format
python -m benchmarks.real_models                          # the table of the model at localhost:8080
python -m benchmarks.real_models --url URL --boards 4     # another server, more boards

Each team plays the same boards twice, with the same number of calls: with answers of the model, and with random answers
(`llm=random`). An answer is whole if it ends by itself and fits the turn's schema, counted before any repair. A plan is
valid if the loop accepts it. The score is the world's own, summed over the boards. Tokens are those that the model
wrote, by the wall time of its episodes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.structured import NoAnswer, extract
from quorum.agents.llm.validation import validator_of
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

WORLDS: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "cube": (2, ("env.side=8", "env.blocks={1: 2}")),
    "crafter_coop": (2, ()),
    "transport": (4, ()),
    "transport_hard": (4, ()),
    "squeeze": (3, ()),
}
"""The size of the team in each world, and the world's settings."""
LEADER = ("topology=centralized", "topology.leader=coordinator", "topology.rounds=3")
TEAMS: Mapping[str, tuple[str, ...]] = {
    "individual": ("agents=naive", "topology=individual"),
    "debate": ("agents=naive", "topology=debate", "topology.rounds=1"),
    "centralized": ("agents=naive", "topology=centralized"),
    "llamac": ("agents=llamac", *LEADER),
}


def played(words: Sequence[str], out: Path) -> Iterator[tuple[str, float]]:
    """Play an episode; return its counts by name."""
    cell, begin = Cell.compose(list(words)), perf_counter()
    result = run_cell(cell, out)
    yield "seconds", perf_counter() - begin
    metrics = {name: float(value or 0) for name, value in result.metrics.items()}
    committed = metrics["plans.number"] - metrics["plans.invalid"]
    yield "valid", committed
    yield "plans", committed + metrics["decision.refused"]
    yield "score", metrics["outcome.score"]
    yield from answers(result.folder)


def answers(folder: Path) -> Iterator[tuple[str, float]]:
    """Return the counts of the answers of an episode, by name."""
    with (folder / "calls.jsonl").open("rb") as lines:
        for call in unfolded(lines):
            if "reply" in call:
                reply = call["reply"]
                yield "answers", 1
                yield "whole", is_whole(call["request"], reply)
                yield "tokens", reply["usage"]["completion"]


def is_whole(request: Mapping[str, Any], reply: Mapping[str, Any]) -> bool:
    """Return whether an answer ended by itself and fits the requested schema."""
    if reply["finish"] != "stop" or request["answer"] is None:
        return bool(reply["finish"] == "stop")
    try:
        extract(reply["text"], validator_of(request["answer"]["schema"]))
    except NoAnswer:
        return False
    return True


def row(world: str, team: str, arguments: argparse.Namespace, out: Path) -> list[str]:
    """Measure a row of the table."""
    n, set_there = WORLDS[world]
    played_for = ("prompts=terse", f"budget.calls={n * arguments.calls}", "max_steps=60")
    shared = (f"env={world}", f"n={n}", *set_there, *TEAMS[team], *played_for)
    asked = {"model": ("llm=llamacpp", f"llm.base_url={arguments.url}", "llm.cache=false"), "chance": ("llm=random",)}
    found: dict[str, dict[str, float]] = {who: defaultdict(float) for who in asked}
    for who, model in asked.items():
        for seed in range(arguments.boards):
            for name, count in played((*shared, *model, f"seed={seed}"), out / who):
                found[who][name] += count
    real, chance = found["model"], found["chance"]
    return [
        world,
        team,
        f"{real['whole']:g} of {real['answers']:g}",
        f"{real['valid']:g} of {real['plans']:g}",
        f"{real['score']:.4g}",
        f"{chance['score']:.4g}",
        f"{real['tokens'] / real['seconds']:.1f}" if real["seconds"] else "",
    ]


HEADER = ["world", "team", "whole answers", "valid plans", "score", "score by chance", "tokens a second"]


def main() -> None:
    """Measure and print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://localhost:8080/v1", help="address of the server")
    parser.add_argument("--boards", type=int, default=2, help="number of boards that each team plays")
    parser.add_argument("--calls", type=int, default=4, help="number of calls of each episode, for each agent")
    parser.add_argument("--world", nargs="*", choices=WORLDS, default=list(WORLDS), help="worlds to play")
    arguments = parser.parse_args()
    for cells in (HEADER, ["---"] * len(HEADER)):
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
    for world in arguments.world:
        for team in TEAMS:
            with tempfile.TemporaryDirectory() as out:
                cells = row(world, team, arguments, Path(out))
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
