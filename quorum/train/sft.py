"""Examples for supervised fine-tuning, as JSONL in the conversational prompt-completion form of TRL and Axolotl.

Each line has `prompt` (messages with `role` and `content`), `completion` (one message of the assistant) and the columns
of `COLUMNS`. The card describes them to people and to `datasets`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, Protocol

import orjson

from quorum.agents.prompting.requests import TURNS
from quorum.configuration.providers.config import is_operational
from quorum.display.sanitize import sanitize
from quorum.installation.hooks import hook
from quorum.runs import Row
from quorum.train.answers import Answer, prompt_set, recorded, transcribed
from quorum.train.card import DUPLICATE, Tally, card
from quorum_base.user_errors import UserError, choices_hint

CARD, TRAIN, EVAL = "README.md", "train.jsonl", "eval.jsonl"
COLUMNS: Mapping[str, tuple[str, str]] = {
    "run": ("string", "name of the run"),
    "board": ("int64", "seed of the board"),
    "n": ("int64", "number of agents"),
    "world": ("string", "the world"),
    "topology": ("string", "who may write to whom, and in which order"),
    "agent": ("string", "who answered"),
    "role": ("string", "its role in the topology; empty: none"),
    "turn": ("string", "kinds of the turn, such as `plan,talk`"),
    "step": ("int64", "environment step"),
    "outcome": ("string", "how the run ended"),
    "success": ("bool", "whether the team finished its task; null if the world does not judge that"),
    "completion_rate": ("float64", "share of the goals reached"),
    "steps": ("int64", "environment steps of the run"),
    "return": ("float64", "sum of the mean rewards of the agents"),
    "credit": (
        "float64",
        "difference reward of the agent, if `quorum credit --write` was run; else null",
    ),
    "model": ("string", "who wrote the answer"),
    "simulated": ("bool", "whether a simulated model answered"),
    "repairs": ("int64", "number of malformed answers, which the prompt quotes, before this one"),
}
"""Columns besides `prompt` and `completion`, each with its type in `datasets` and its meaning."""


class Runs(Protocol):
    """The runs to export."""

    name: str
    rows: Sequence[Row]
    remarks: list[str]


class Split(Protocol):
    """Which boards are for evaluation."""

    share: float

    def evaluates(self, board: int) -> bool:
        """Whether a board is for evaluation."""

    def place(self, board: int) -> float:
        """Return the place of a board among all boards, from 0 to below 1."""


class Sft:
    """The format.

    Args:
        agents: names of agents; empty: all.
        turns: kinds of turns, any of which an answer must have; empty: all.
        best: how many draws of each board and arm to export; None: all.
        prompts: name of the set of prompts; empty: those that the models got.
        split: which boards are for evaluation; None: none.

    Raises:
        UserError: there is no such kind of turn, or set of prompts.
    """

    TEXTS = True

    def __init__(
        self, agents: AbstractSet[str], turns: AbstractSet[str], *, best: int | None, prompts: str, split: Split | None
    ) -> None:
        for turn in turns - set(TURNS):
            raise UserError(f"--turns {turn}: there is no such kind of turn", choices_hint(turn, "Kinds", TURNS))
        self.FILES: tuple[str, ...] = (CARD, TRAIN) if split is None else (CARD, TRAIN, EVAL)
        self._agents = agents
        self._turns = turns
        self._best = best
        self._prompts = prompt_set(prompts) if prompts else None
        self._split = split

    def write(self, runs: Runs, folder: Path) -> None:
        """Write the examples and their card; runs that cannot be read are left out and reported.

        Raises:
            UserError: there is no example, or none on one side of the split.
        """
        rows = runs.rows if self._best is None else best_draws(runs.rows, self._best)
        self._check_sides({row.seed for row in rows})
        tally = Tally(self.FILES[1:])
        seen: set[bytes] = set()
        with ExitStack() as files:
            sides = {name: files.enter_context((folder / name).open("wb")) for name in tally.sides}
            for row in {row.folder: row for row in rows}.values():
                side = EVAL if self._split is not None and self._split.evaluates(row.seed) else TRAIN
                for example in self._examples(row, runs.remarks, tally):
                    digest = sha256(orjson.dumps([example["prompt"], example["completion"]])).digest()
                    if digest in seen:
                        tally.left_out[DUPLICATE] += 1
                        continue
                    seen.add(digest)
                    tally.add(side, example)
                    sides[side].write(orjson.dumps(example, option=orjson.OPT_APPEND_NEWLINE))
        for agent in sorted(self._agents - tally.agents if tally.agents else ()):
            raise UserError(
                f"--agents {agent}: no run has an answer of it", choices_hint(agent, "Agents", sorted(tally.agents))
            )
        if not seen:
            reasons = [f"{count} answers: {reason}." for reason, count in tally.left_out.items() if count]
            rules = "For a team of rules, write its turns as prompts: --prompts short."
            raise UserError("--to sft: no run has an answer to export", "\n".join([*runs.remarks, *reasons, rules]))
        self._check_sides({board for boards in tally.boards.values() for board in boards})
        (folder / CARD).write_text(card(runs.name, tally, COLUMNS), encoding="utf-8")

    def _check_sides(self, boards: Collection[int]) -> None:
        """Check that both sides of the split have boards."""
        if self._split is None or {self._split.evaluates(board) for board in boards} == {True, False}:
            return
        places = sorted(map(self._split.place, boards))
        lacking, bound = (
            ("evaluation", f"above {places[0]:.3f}")
            if places[0] >= self._split.share
            else ("training", f"below {places[-1]:.3f}")
        )
        raise UserError(
            f"--split boards={self._split.share}: none of the {len(boards)} boards is for {lacking}",
            f"Export more boards, or give a share {bound}." if len(places) > 1 else "Export more boards.",
        )

    def _examples(self, row: Row, remarks: list[str], tally: Tally) -> list[dict[str, Any]]:
        """Return the examples of a run; none if it cannot be read, which is reported."""
        found = Counter[str]()
        try:
            answers = list(recorded(row, found) if self._prompts is None else transcribed(row, self._prompts))
            credit = credits_of_agents(row, {answer.turn.agent for answer in answers})
        except UserError as error:
            remarks.append(f"{row.name} is left out: {sanitize(str(error).partition(chr(10))[0], 400)}")
            return []
        if not answers and not found.total():
            remarks.append(f"{row.name} is left out: it asked no language model")
        tally.left_out.update(found)
        tally.agents |= {answer.turn.agent for answer in answers}
        wanted = [answer for answer in answers if self._wants(answer)]
        return [_example(row, answer, credit.get(answer.turn.agent)) for answer in wanted]

    def _wants(self, answer: Answer) -> bool:
        turn = answer.turn
        return (not self._agents or turn.agent in self._agents) and (
            not self._turns or bool(self._turns & {*turn.acts})
        )


def best_draws(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the best runs among those that differ in `draw` alone, in the given order.

    Success comes first, then the share of goals reached, then fewer steps; the names decide between equals.

    Args:
        rows: runs.
        most: how many to return of each board and arm.
    """

    def rank(row: Row) -> tuple[float, float, float, str]:
        success, reached = (row.metrics.get(f"outcome.{name}") or 0.0 for name in ("success", "completion"))
        steps = row.metrics.get("outcome.steps")
        return -success, -reached, inf if steps is None else steps, row.name

    groups: defaultdict[frozenset[Any], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=rank):
        asked = {key: value for key, value in row.factors.items() if not is_operational(key)}
        groups[frozenset({**asked, "arm of the sweep": row.arm, "draw": None}.items())].append(row)
    kept = {id(row) for group in groups.values() for row in group[:most]}
    return [row for row in rows if id(row) in kept]


def credits_of_agents(row: Row, agents: Iterable[str]) -> Mapping[str, float | None]:
    """Return the difference reward of agents in a run whose metrics have their mean; empty for other runs.

    The metrics do not hold the values of single agents, so they are computed again, which asks no mind and no model.

    Raises:
        UserError: the run cannot be replayed.
    """
    if row.metrics.get("credit.difference") is None or (credits_of := hook("agent_credits")) is None:
        return {}
    found = credits_of(row.folder)
    return {agent: found.get(agent) for agent in agents}


def _example(row: Row, answer: Answer, credit: float | None) -> dict[str, Any]:
    turn, factors, metrics = answer.turn, row.factors, row.metrics
    n, success, steps = factors.get("n"), metrics.get("outcome.success"), metrics.get("outcome.steps")
    whole = steps is not None and steps.is_integer() and steps < 1 << 53
    values = (
        row.name, row.seed, n if type(n) is int else None, str(factors.get("env.name")),
        str(factors.get("topology.name")), turn.agent, turn.role, ",".join(turn.acts), turn.step, row.outcome,
        None if success is None else success == 1, metrics.get("outcome.completion"),
        int(steps or 0) if whole else None, metrics.get("outcome.return"), credit, answer.model, answer.simulated,
        answer.repairs,
    )  # fmt: skip
    return {
        "prompt": [{"role": role, "content": text} for role, text in turn.prompt],
        "completion": [{"role": "assistant", "content": turn.answer}],
        **dict(zip(COLUMNS, values, strict=True)),
    }
