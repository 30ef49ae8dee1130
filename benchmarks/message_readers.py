"""How many natural claims and orders a judge reads as their labels say (`natural_messages.yaml` names their author).

python benchmarks/message_readers.py llm=simulated llm=random
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from quorum.configuration.cell import Cell
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.what_if.failures.message_judge import JUDGE, read_message

MESSAGES = Path(__file__).parent / "natural_messages.yaml"
NAMES = ("agent_0", "agent_1", "agent_2", "agent_3")
SENDER = 1


async def read_all(judge: str) -> dict[str, tuple[int, int]]:
    """Return how many claims and orders a judge reads as their labels say, and how many there are."""
    given: dict[str, Any] = yaml.safe_load(MESSAGES.read_text())
    configuration = Cell.compose(["agents=naive", judge]).configuration
    found = {}
    async with ModelPool() as pool:
        model = EpisodeModels(configuration, pool, CallLedger(configuration, None))(JUDGE)
        for sort, kind in (("claims", "inform"), ("orders", "directive")):
            right = 0
            for one in given[sort]:
                said = {"from": NAMES[SENDER], "to": [n for n in NAMES if n != NAMES[SENDER]], "kind": kind}
                reading = await read_message(model, {**said, "text": one["text"]}, NAMES, given["tasks"])
                needs = {NAMES.index(name): target for name, target in one.get("needs", {}).items()}
                wanted = needs or {SENDER: one["target"]}
                right += reading is not None and reading.taken(SENDER) == wanted
            found[sort] = right, len(given[sort])
    return found


def main(judges: Sequence[str]) -> None:
    """Print the table, with a row for each judge."""
    print("| reader | claims | orders |\n|---|---|---|")
    for judge in judges:
        found = asyncio.run(read_all(judge))
        print(f"| {judge} | {' | '.join(f'{right} of {every}' for right, every in found.values())} |")


if __name__ == "__main__":
    main(sys.argv[1:])
