"""What prompts cost: the tokens of each decision, and how much of a prompt a provider has read before.

python benchmarks/prompts.py                        # the table of this version
python benchmarks/prompts.py --json > new.json      # the figures, to compare with those of another version
python benchmarks/prompts.py --before old.json      # the table of both
python benchmarks/prompts.py --world squeeze        # of one world, in seconds

A decision is one requested answer of a participant. Its tokens are characters / 4, of its messages and of the JSON
schema of its answer. `new` are the tokens of its messages that follow the longest beginning shared with an earlier
prompt of the episode, so no cache of prefixes can save them. A prompt's share is the part that it has in common, from
its first character on, with the previous prompt of the sweep (`after`), and with any earlier prompt (`ever`).
"""

from __future__ import annotations

import argparse
import bisect
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from quorum.agents.llm.recording import unfolded
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

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
"""The size of the teams whose prompts are compared."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The input of a model for an answer.

    Attributes:
        text: the messages.
        form: number of characters of the answer's schema.
    """

    text: str
    form: int


def prompts(world: str, arm: str, n: int, out: Path) -> list[Prompt]:
    """Play the beginning of an episode with the simulated model; return its prompts in the order of the answers."""
    cell = Cell.compose([f"env={world}", f"n={n}", f"max_steps={STEPS}", *ARMS[arm]])
    folder = run_cell(cell, out).folder
    with (folder / "calls.jsonl").open("rb") as lines:
        return [_prompt(record["request"]) for record in unfolded(lines)]


def _prompt(request: Mapping[str, Any]) -> Prompt:
    text = "\n".join(message["content"] for message in request["messages"])
    return Prompt(text, len(json.dumps(request["answer"]["schema"], separators=(",", ":"))))


def known_before(sweep: Sequence[str]) -> Iterator[int]:
    """Return for each prompt how many of its first characters it shares with an earlier prompt."""
    known: list[str] = []
    for prompt in sweep:
        place = bisect.bisect(known, prompt)
        yield max((_common(other, prompt) for other in known[max(0, place - 1) : place + 1]), default=0)
        known.insert(place, prompt)


def shares(sweep: Sequence[str]) -> dict[str, float]:
    """Return the medians of the shares with the previous prompt, and with the best of all earlier prompts."""
    after = [_common(before, prompt) / len(prompt) for before, prompt in pairwise(sweep)]
    ever = [known / len(prompt) for known, prompt in zip(known_before(sweep), sweep, strict=True)][1:]
    return {"after": statistics.median(after), "ever": statistics.median(ever)}


def _common(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one.startswith(other[:middle]) else (low, middle - 1)
    return low


def means(found: Sequence[Prompt]) -> dict[str, float]:
    """Return the mean tokens of a prompt, and the mean of its new tokens."""
    texts = [prompt.text for prompt in found]
    new = sum(map(len, texts)) - sum(known_before(texts))
    whole = sum(len(prompt.text) + prompt.form for prompt in found)
    return {"all": whole / 4 / len(found), "new": new / 4 / len(found)}


def figures(worlds: Sequence[str]) -> dict[str, Any]:
    """Measure some worlds."""
    tokens: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    shared: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as out:
        for world in worlds:
            for arm in ARMS:
                for n in SIZES:
                    found = prompts(world, arm, n, Path(out))
                    tokens.setdefault(world, {}).setdefault(arm, {})[str(n)] = means(found)
            sweep = [prompt.text for arm in ARMS for prompt in prompts(world, arm, SHARED_AT, Path(out))]
            shared[world] = shares(sweep)
    return {"tokens": tokens, "shares": shared}


def table(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[str]:
    """Format the figures as Markdown."""
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


def _told(now: Mapping[str, float], before: Mapping[str, float] | None) -> str:
    if before is None:
        return f"{now['all']:,.0f}, new {now['new']:,.0f}"
    change = now["all"] / before["all"] - 1
    return f"{before['all']:,.0f} -> {now['all']:,.0f} ({change:+.0%}), new {before['new']:,.0f} -> {now['new']:,.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--before", type=Path, help="figures of another version, to show next to these")
    parser.add_argument("--world", choices=WORLDS, action="append", help="measure only this world; may be repeated")
    given = parser.parse_args(arguments)
    before = json.loads(given.before.read_text(encoding="utf-8")) if given.before is not None else None
    now = figures(given.world or WORLDS)
    print(json.dumps(now, indent=1) if given.json else "\n".join(table(now, before)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
