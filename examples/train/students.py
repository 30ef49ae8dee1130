"""Makes the examples of two students from the same transcripts: one that can listen, and one that cannot.

    python students.py TRANSCRIPTS OUT [--examples 1600] [--seed 0]

TRANSCRIPTS is the file of `quorum export --to sft --prompts short`. OUT gets `listener.jsonl`, a sample of the
examples, and `deaf.jsonl`: the same examples in the same order, but the messages in each prompt come from the same turn
on another board. So DEAF sees as many messages, of the same kinds, and can learn nothing from what they say.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

Example = dict[str, Any]


def sample(examples: Sequence[Example], size: int, chance: random.Random) -> list[Example]:
    """Return examples in random order, as even as possible over world, team size, topology and kind of turn.

    Turns that plan count twice: they are the hardest.
    """
    groups: defaultdict[Hashable, list[Example]] = defaultdict(list)
    for example in examples:
        groups[example["world"], example["n"], example["topology"], example["turn"]].append(example)
    for group in groups.values():
        chance.shuffle(group)
    chosen: list[Example] = []
    while len(chosen) < min(size, len(examples)):
        for group in groups.values():
            for _ in range(2 if group and "plan" in group[0]["turn"].split(",") else 1):
                chosen += [group.pop()] if group else []
    del chosen[size:]
    chance.shuffle(chosen)
    return chosen


def split(prompt: str) -> tuple[list[str], list[str], list[str]]:
    """Return the lines of a short prompt before its messages, its messages, and the lines after them."""
    lines = prompt.split("\n")
    heard = [place for place, line in enumerate(lines) if line.startswith(("@", "new @"))]
    if not heard:
        return lines, [], []
    return lines[: heard[0]], lines[heard[0] : heard[-1] + 1], lines[heard[-1] + 1 :]


def permuted(examples: Sequence[Example], chance: random.Random) -> list[Example]:
    """Return the examples with the messages of the same turn on another board.

    Turns are the same if world, team size, topology, role, kind and the number of messages are; a turn whose like
    exists on no other board loses its messages to a turn with another number of them.
    """
    alike: defaultdict[Hashable, list[Example]] = defaultdict(list)
    for example in examples:
        _, heard, _ = split(example["prompt"][-1]["content"])
        for key in _keys(example, len(heard)) if heard else ():
            alike[key].append(example)
    made = []
    for example in examples:
        before, heard, after = split(example["prompt"][-1]["content"])
        if heard:
            donors = ([d for d in alike[key] if d["board"] != example["board"]] for key in _keys(example, len(heard)))
            found = next(filter(None, donors), None)
            if found is None:
                raise SystemExit(
                    f"board {example['board']}: no other board has a turn with messages; export more boards"
                )
            donor = chance.choice(found)
            heard = split(donor["prompt"][-1]["content"])[1]
        content = "\n".join([*before, *heard, *after])
        made.append({**example, "prompt": [*example["prompt"][:-1], {**example["prompt"][-1], "content": content}]})
    return made


def _keys(example: Example, heard: int) -> Sequence[Hashable]:
    """Return what two turns must share, the strictest first."""
    place = (example["world"], example["n"])
    return (
        (*place, example["topology"], example["role"], example["turn"], example["agent"], heard),
        (*place, heard),
        place,
    )


def main() -> None:
    """Read the command line and write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--examples", type=int, default=1600)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    lines = given.transcripts.read_text(encoding="utf-8").splitlines()
    chosen = sample([json.loads(line) for line in lines], given.examples, random.Random(given.seed))
    given.out.mkdir(parents=True, exist_ok=True)
    for name, examples in (("listener", chosen), ("deaf", permuted(chosen, random.Random(given.seed)))):
        text = "".join(f"{json.dumps(example, ensure_ascii=False)}\n" for example in examples)
        (given.out / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
