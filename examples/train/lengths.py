"""Counts the tokens of the prompts in files of examples, by team size: whether a model has room for them.

    python lengths.py ../../runs/train/teacher-cube/sft/train.jsonl --base ../../runs/train/base

Tokens are those of the model that is trained, with its chat template.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any

from finetune import read_examples
from weights import base


def by_size(file: Path, tokenizer: Any) -> Iterator[tuple[int, int]]:
    """Yield the team size and the tokens of the prompt of each example.

    Raises:
        SystemExit: a line is no example, or has no team size.
    """
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    for number, (row, example) in enumerate(zip(rows, read_examples(file, tokenizer), strict=True), 1):
        if "n" not in row:
            raise SystemExit(f"{file}:{number}: no team size in the column `n`, which `quorum export --to sft` writes")
        yield row["n"], len(example.prompt)


def table(lengths: Mapping[int, Sequence[int]]) -> str:
    """Return a line for each team size."""
    found = sorted(lengths.items())
    return "\n".join(
        f"n = {n}: {len(own)} prompts, {mean(own):.0f} tokens on average, {max(own)} at most" for n, own in found
    )


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="what `quorum export --to sft` wrote")
    parser.add_argument("--base", type=Path, default=Path("runs/train/base"), help="folder of the unpacked base model")
    given = parser.parse_args()
    for file in given.files:
        if not file.is_file():
            parser.error(f"{file}: no such file")
    _, tokenizer = base(given.base)
    lengths: defaultdict[int, list[int]] = defaultdict(list)
    for n, length in chain.from_iterable(by_size(file, tokenizer) for file in given.files):
        lengths[n].append(length)
    print(table(lengths))


if __name__ == "__main__":
    main()
