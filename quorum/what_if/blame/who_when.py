"""Compare the verdicts of a reader with the labels of Who&When, or of other tools in its format.

Source: arXiv 2505.00212, section 3 (accuracy by agent and by step, also with a tolerance) and Table 2 (tolerances). A
case is a JSON object with these keys: `history`, a list of entries with `content` and with `name` (generated teams) or
`role` (hand-made teams); `question`; `ground_truth` or `groundtruth`; and the labels `mistake_agent` and
`mistake_step`, the index of an entry of the history, as a number or as text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from maeil.errors import EpisodeStop
from quorum.agents.llm.errors import BudgetReached, LanguageModelError
from quorum.configuration.schema import Configuration
from quorum.display.sanitize import sanitize
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.episode.substitute import substituted
from quorum.process.event_loop import run_coroutine
from quorum.runs.summary import aligned
from quorum.runs.transcript import Transcript, TurnTaken
from quorum.storage.files import os_errors
from quorum.storage.run_files import RunFiles
from quorum.what_if.blame.answer import Question
from quorum.what_if.blame.judge import PROCEDURES, reading, unreadable
from quorum.what_if.blame.reader import READER, Procedure, Reader, Scene
from quorum.what_if.blame.verdict import Verdict
from quorum_base.user_errors import UserError, choices_hint

WHO_WHEN = "who-when"
LARGEST_CASE = 16 << 20
"""Maximum size of a file, in bytes."""
MOST_CASES = 10_000
TOLERANCES = range(6)
"""Numbers of steps by which a verdict may be off."""


class _Said(msgspec.Struct):
    """An entry of the history."""

    content: str | None = None
    role: str = ""
    name: str = ""

    @property
    def agent(self) -> str:
        """Author of the entry: hand-made teams add the addressee to the role, such as `Orchestrator (-> WebSurfer)`."""
        return self.name or self.role.partition(" (")[0]


class Case(msgspec.Struct):
    """A case in the format of its file."""

    history: list[_Said]
    question: str = ""
    ground_truth: str | int | float | None = None
    groundtruth: str | int | float | None = None
    mistake_agent: str = ""
    mistake_step: str | int = ""
    is_correct: bool = False

    @property
    def step(self) -> int | None:
        """The labelled index; None without a label."""
        return None if self.mistake_step == "" else int(self.mistake_step)

    @property
    def scene(self) -> Scene:
        """The task as the reader sees it, with the right answer only if the case has it."""
        answer = self.groundtruth if self.ground_truth is None else self.ground_truth
        known = {"question": self.question} | ({} if answer in (None, "") else {"answer": str(answer)})
        return Scene(WHO_WHEN, (), len(self.history), known)

    @property
    def transcript(self) -> Transcript:
        """Its history, with one turn for each entry; the step of a turn is its index."""
        entries: list[dict[str, Any]] = []
        for index, said in enumerate(self.history):
            role = {} if said.name else {"role": said.role}
            says = {"says": [{"text": said.content}]} if said.content else {}
            entries.append({"turn": index, "agent": said.agent, "may": ["speak"], **role, **says})
        turns = [TurnTaken(entry["agent"], entry["turn"], 0) for entry in entries]
        team = tuple(dict.fromkeys(turn.agent for turn in turns))
        return Transcript(team, turns, entries, range(1, len(entries) + 1))


@dataclass(frozen=True, slots=True)
class Reading:
    """The verdicts on cases.

    Attributes:
        reader: procedure and model.
        cases: the cases that were read: name, case and verdict.
        unread: number of cases beyond the budget.
        calls: number of answers, or the number that a dry run expects.
        usd: their cost.
        tokens: number of tokens that they read and wrote.
    """

    reader: str
    cases: Sequence[tuple[str, Case, Verdict]]
    unread: int
    calls: int
    usd: float
    tokens: int

    @property
    def agents(self) -> tuple[int, int]:
        """Number of right agents, and number of labelled agents."""
        pairs = [(case.mistake_agent, verdict.agent or "") for _, case, verdict in self.cases if case.mistake_agent]
        return sum(label.strip().casefold() == named.casefold() for label, named in pairs), len(pairs)

    def steps(self, tolerance: int) -> tuple[int, int]:
        """Return the number of right steps within a tolerance, and the number of labelled steps."""
        pairs = [(case.step, verdict.t) for _, case, verdict in self.cases if case.step is not None]
        right = sum(t is not None and label is not None and abs(t - label) <= tolerance for label, t in pairs)
        return right, len(pairs)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data; an accuracy is the number of right answers and the number of labels."""
        cases = [
            {"case": name, "mistake_agent": case.mistake_agent, "mistake_step": case.step, **verdict.to_json()}
            for name, case, verdict in self.cases
        ]
        step = [self.steps(most) for most in TOLERANCES]
        spent = {"unread": self.unread, "calls": self.calls, "usd": self.usd, "tokens": self.tokens}
        return {"reader": self.reader, "cases": cases, "agent": self.agents, "step": step, **spent}

    @property
    def estimate(self) -> dict[str, Any]:
        """The estimate of a dry run, as JSON-ready data."""
        return {"cases": len(self.cases), "answers": self.calls, "tokens": self.tokens, "usd": round(self.usd, 6)}

    def __str__(self) -> str:
        rows = [["case", "agent", "step", "labelled agent", "labelled step"]]
        for name, case, verdict in self.cases:
            found = (name, verdict.agent, verdict.t, case.mistake_agent, case.step)
            rows.append(["-" if value in (None, "") else sanitize(str(value), 40) for value in found])
        lines = [*aligned(rows), f"agent: {_share(self.agents)}"]
        lines += [f"step{f' within {most}' if most else ''}: {_share(self.steps(most))}" for most in TOLERANCES]
        if self.unread:
            lines.append(f"the budget ended before {self.unread} of {self.unread + len(self.cases)} cases were read")
        return "\n".join([*lines, f"{self.reader}: {self.calls} calls, {self.tokens} tokens, {self.usd:.4f} USD"])


def _share(counts: tuple[int, int]) -> str:
    right, labelled = counts
    return f"{right} of {labelled}" + (f" ({100 * right / labelled:.1f} %)" if labelled else "")


def read_cases(path: Path, question: Question, form: str = WHO_WHEN, *, dry: bool = False) -> Reading:
    """Let a reader judge a case or a folder of cases, on one budget.

    Args:
        path: a file, or a folder with `*.json`. It may be untrusted.
        question: with the procedure of a reader as its method.
        form: name of the format.
        dry: whether the simulated model replaces a paid one, at its price: an estimate.

    Raises:
        UserError: there is no such format, the method is not a reader, a file is not a case, or the reader's model
            cannot be called. All files are read before the first call.
    """
    if form != WHO_WHEN:
        raise UserError(f"--import {form}: there is no such format", choices_hint(form, "Formats", (WHO_WHEN,)))
    if question.method not in PROCEDURES:
        hint = choices_hint(question.method, "Methods", PROCEDURES)
        raise UserError(f"--import {WHO_WHEN}: --method {question.method} needs a run of Quorum", hint)
    cases = {name: case for name, case in _load(path) if not case.is_correct}
    configuration = reading(question, dry=dry)
    if dry:
        configuration = substituted(configuration, (READER,), question.config_dir)
    return run_coroutine(_read(cases, Procedure(question.method.removeprefix(f"{READER}:")), configuration))


async def _read(cases: dict[str, Case], procedure: Procedure, configuration: Configuration) -> Reading:
    books, found = CallLedger(configuration, None), []
    try:
        async with ModelPool() as pool:
            model = EpisodeModels(configuration, pool, books)(READER)
            for name, case in cases.items():
                found.append((name, case, await Reader(model, procedure, case.transcript, case.scene).read()))
    except BudgetReached:
        pass  # the others are reported as unread
    except (LanguageModelError, EpisodeStop) as error:
        raise unreadable(procedure, error, configuration) from error
    spent = books.spending
    reader = f"{READER}:{procedure}, {configuration.llm.label}"
    return Reading(reader, found, len(cases) - len(found), spent.calls, spent.usd, spent.tokens)


def _load(path: Path) -> Iterator[tuple[str, Case]]:
    """Read the cases of a file or of a folder; links are not followed."""
    folder, names = path.parent, [path.name]
    if path.is_dir():
        with os_errors(f"{path}: cannot be read", "Give a JSON file, or a folder of them."):
            folder, names = path, sorted(name for name in os.listdir(path) if name.endswith(".json"))
    elif not os.path.lexists(path):
        raise UserError(f"{path}: there is no such file or folder", "Give a JSON file, or a folder of them.")
    if not 0 < len(names) <= MOST_CASES:
        raise UserError(f"{path}: it holds {len(names)} cases (*.json)", f"Give 1 to {MOST_CASES} cases.")
    for name in names:
        yield name, _case(folder, name)


def _case(folder: Path, name: str) -> Case:
    data = RunFiles(folder).read(name, LARGEST_CASE)
    try:
        case = msgspec.json.decode(data or b"", type=Case)
        if not case.history or (case.step is not None and case.step < 0):
            raise ValueError("its history is empty, or its mistake_step is negative")
    except (ValueError, RecursionError) as error:
        reason = sanitize(str(error), 200)
        raise UserError(f"{folder / name}: not a case of Who&When: {reason}", "See docs/blame.md.") from error
    return case
