"""The card of a data set of examples: what `datasets` needs to load it, and what people need to judge it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from quorum.agents.llm.limits import CHARACTERS_PER_TOKEN
from quorum.display.sanitize import sanitize
from quorum.installation.version import __version__

DUPLICATE = "the same prompt and answer as another"
_MESSAGES = "".join(
    f"  - name: {name}\n    list:\n    - name: role\n      dtype: string\n    - name: content\n      dtype: string\n"
    for name in ("prompt", "completion")
)


class Tally:
    """Counts the examples of a data set.

    Args:
        sides: names of its files.
    """

    def __init__(self, sides: Sequence[str]) -> None:
        self.sides = sides
        self.left_out: Counter[str] = Counter()
        """Answers by the reason why they are left out."""
        self.agents: set[str] = set()
        """Names of all agents that answered, exported or not."""
        self.examples: Counter[str] = Counter()
        """Examples by file."""
        self.characters: Counter[str] = Counter()
        """Characters of the prompts and answers, by file."""
        self.runs: defaultdict[str, set[str]] = defaultdict(set)
        """Names of the runs, by file."""
        self.boards: defaultdict[str, set[int]] = defaultdict(set)
        """Seeds of the boards, by file."""
        self.values: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """Examples by value of a column."""

    def add(self, side: str, example: Mapping[str, Any]) -> None:
        """Count an example in a file."""
        self.examples[side] += 1
        self.characters[side] += sum(len(said["content"]) for said in (*example["prompt"], *example["completion"]))
        self.runs[side].add(example["run"])
        self.boards[side].add(example["board"])
        for column in ("world", "n", "topology", "turn", "success", "model", "simulated"):
            self.values[column][str(example[column])] += 1


def card(name: str, tally: Tally, columns: Mapping[str, tuple[str, str]]) -> str:
    """Return the card as Markdown with YAML at its start.

    Args:
        name: name of the data set.
        tally: its examples.
        columns: its columns besides the messages, each with its type and its meaning.
    """
    files = "".join(f"  - split: {side.partition('.')[0]}\n    path: {side}\n" for side in tally.sides)
    features = "".join(f"  - name: {column}\n    dtype: {kind}\n" for column, (kind, _) in columns.items())
    sizes = "".join(
        f"| `{side}` | {tally.examples[side]} | {len(tally.runs[side])} | {len(tally.boards[side])} "
        f"| {round(tally.characters[side] / CHARACTERS_PER_TOKEN)} |\n"
        for side in tally.sides
    )
    simulated = tally.values["simulated"]["True"]
    return (
        f"---\npretty_name: {json.dumps(name)}\nlicense: unknown\ntags: [quorum, multi-agent]\n"
        f"configs:\n- config_name: default\n  data_files:\n{files}"
        f"dataset_info:\n  features:\n{_MESSAGES}{features}---\n\n"
        f"# Answers of a team of agents\n\nExported by Quorum {__version__} for supervised fine-tuning: a prompt and "
        f"its answer in each line, in the conversational form.\n\n{_about_simulated(simulated, tally.examples.total())}"
        "Fill in `license` above: the terms of the models that wrote the answers apply.\n\n"
        f"| file | examples | runs | boards | tokens, at {CHARACTERS_PER_TOKEN} characters each |\n"
        f"|---|---|---|---|---|\n{sizes}\n"
        + "".join(_counts(f"Examples by {column}", counts) for column, counts in tally.values.items())
        + _counts("Answers left out", tally.left_out)
        + "## Columns\n\n- `prompt`, `completion`: messages with `role` and `content`\n"
        + "".join(f"- `{column}`: {meaning}\n" for column, (_, meaning) in columns.items())
    )


def _about_simulated(count: int, total: int) -> str:
    if not count:
        return ""
    return f"**A simulated model, which is no language model but rules, wrote {count} of the {total} answers.**\n\n"


def _counts(title: str, counts: Counter[str]) -> str:
    """Return counts as a list; names are from untrusted folders."""
    shown = "".join(
        f"- `{sanitize(name, 80).replace('`', '')}`: {count}\n" for name, count in sorted(counts.items()) if count
    )
    return f"## {title}\n\n{shown}\n" if shown else ""
