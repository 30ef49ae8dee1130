"""What prompts cost: tokens of each decision, and how much of a prompt a provider has read before.

python benchmarks/prompts.py                        # the table of this version
python benchmarks/prompts.py --json > new.json      # the figures, to lay beside those of another version
python benchmarks/prompts.py --before old.json      # the table of both

A decision is one answer that a participant was asked for. Tokens are characters / 4, those of the messages alone. A
prompt's share is what it has in common, from its first character on, with the prompt before it in the sweep (`after`),
and with any prompt before it (`ever`): what a provider's cache of prefixes can spare.
"""

from __future__ import annotations

import argparse
import bisect
import json
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from quorum.agents.llm.folding import unfolded
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell

WORLDS = ("cube", "crafter_coop", "transport", "squeeze")
SIZES = (2, 8, 32)
LEADER = ("topology=centralized", "topology.leader=coordinator")
ARMS: Mapping[str, tuple[str, ...]] = {
    "individual": ("agents=naive", "topology=individual"),
    "debate": ("agents=naive", "topology=debate"),
    "chain": ("agents=naive", "topology=chain"),
    "centralized": ("agents=naive", "topology=centralized"),
    "decentralized": ("agents=naive", "topology=decentralized"),
    "graph": ("agents=naive", "topology=graph"),
    "llamac": ("agents=llamac", *LEADER, "topology.rounds=3"),
    "hmas2": ("agents=hmas2", *LEADER, "topology.rounds=3"),
}
STEPS = 12
SHARED_AT = 4
"""The size of the teams whose prompts are compared with one another."""


def prompts(world: str, arm: str, n: int, out: Path) -> list[str]:
    """Play the beginning of an episode with the simulated model; return its prompts in the order of the answers."""
    cell = Cell.compose([f"env={world}", f"n={n}", f"max_steps={STEPS}", *ARMS[arm]])
    folder = run_cell(cell, out).folder
    with (folder / "calls.jsonl").open("rb") as lines:
        return ["\n".join(_texts(record["request"]["messages"])) for record in unfolded(lines)]


def _texts(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return (message["content"] for message in messages)


def shares(sweep: Sequence[str]) -> dict[str, float]:
    """Return the medians of what prompts share with the one before them, and with the best of all before them."""
    after, ever = [], []
    known: list[str] = []
    for before, prompt in zip(("", *sweep), sweep, strict=False):
        place = bisect.bisect(known, prompt)
        if known:
            after.append(_common(before, prompt) / len(prompt))
            ever.append(max(_common(other, prompt) for other in known[max(0, place - 1) : place + 1]) / len(prompt))
        known.insert(place, prompt)
    return {"after": statistics.median(after), "ever": statistics.median(ever)}


def _common(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one.startswith(other[:middle]) else (low, middle - 1)
    return low


def figures() -> dict[str, Any]:
    """Measure everything."""
    tokens: dict[str, dict[str, dict[str, float]]] = {}
    shared: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as out:
        for world in WORLDS:
            for arm in ARMS:
                for n in SIZES:
                    found = prompts(world, arm, n, Path(out))
                    mean = sum(map(len, found)) / 4 / len(found)
                    tokens.setdefault(world, {}).setdefault(arm, {})[str(n)] = mean
            sweep = [prompt for arm in ARMS for prompt in prompts(world, arm, SHARED_AT, Path(out))]
            shared[world] = shares(sweep)
    return {"tokens": tokens, "shares": shared}


def table(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[str]:
    """Write the figures as Markdown."""
    yield f"| world | team | {' | '.join(f'n = {n}' for n in SIZES)} |"
    yield "|---" * (2 + len(SIZES)) + "|"
    for world, arms in now["tokens"].items():
        for arm, found in arms.items():
            old = before["tokens"][world][arm] if before is not None else {}
            yield f"| {world} | {arm} | {' | '.join(_told(found[str(n)], old.get(str(n))) for n in SIZES)} |"
    yield ""
    yield f"| world | shared with the prompt before, n = {SHARED_AT} | with any prompt before |"
    yield "|---|---|---|"
    for world, found in now["shares"].items():
        old = before["shares"][world] if before is not None else {}
        cells = (f"{old[key]:.0%} -> {found[key]:.0%}" if old else f"{found[key]:.0%}" for key in ("after", "ever"))
        yield f"| {world} | {' | '.join(cells)} |"


def _told(now: float, before: float | None) -> str:
    return f"{now:,.0f}" if before is None else f"{before:,.0f} -> {now:,.0f} ({now / before - 1:+.0%})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--before", type=Path, help="figures of another version, to show beside these")
    given = parser.parse_args(arguments)
    before = json.loads(given.before.read_text(encoding="utf-8")) if given.before is not None else None
    now = figures()
    print(json.dumps(now, indent=1) if given.json else "\n".join(table(now, before)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
