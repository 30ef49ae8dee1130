"""The rows of the table: each method names the agent and the step that made a failed run fail.

A method is a function that takes the folder of a run and returns its answers: one, or several that are equally likely,
such as guesses. No method sees the label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path

import msgspec

from benchmarks.attribution.cases import CONFIGS
from quorum.runs.run_folder import RunFolder, read_whole_trace
from quorum.runs.transcript import Transcript, TurnTaken
from quorum.what_if.blame.answer import USUAL_BUDGET, Question
from quorum.what_if.blame.attempts import Budget
from quorum.what_if.blame.decisions import decisions_of
from quorum.what_if.blame.ending import FINISHED, Success
from quorum.what_if.blame.judge import PROCEDURES, judge
from quorum.what_if.blame.reference import SELF, USUAL, Reference
from quorum.what_if.blame.search import blame
from quorum.what_if.blame.verdict import RULES, Verdict
from quorum.what_if.branch.parent import Parent
from quorum_base.user_errors import UserError, choices_hint

OWN, ANOTHER = "own mind", "another mind"
REFERENCES = (USUAL, OWN, ANOTHER)
"""Reference policies: see `reference_of`."""
SIMULATED = "llm=simulated"


class Trials(msgspec.Struct, frozen=True):
    """The trials of a suspect: successes and draws of each arm.

    Attributes:
        corrected: of re-runs with its correction.
        placebo: of re-runs with a change that keeps the intent.
        joint: whether it is several decisions together.
        agent: the agent of its first decision.
        t: environment step of its first decision.
    """

    corrected: tuple[int, int]
    placebo: tuple[int, int]
    joint: bool = False
    agent: str = ""
    t: int = -1


class Evidence(msgspec.Struct, frozen=True):
    """What an experiment has seen of a run.

    Attributes:
        trials: of each suspect that was tried.
        untried: number of untried decisions.
        same: number of turns that the reference policy decides in the same way.
        exact: whether the same change always ends the same way.
    """

    trials: tuple[Trials, ...]
    untried: int
    same: int
    exact: bool


class Answer(msgspec.Struct, frozen=True):
    """An answer of a method about a run.

    Attributes:
        agent: name of the participant; None: nobody.
        t: environment step of the decision; None: the method names none.
        probability: that the answer is right; None if the method gives none.
        why: the reason, in a sentence; it may be untrusted text of a language model.
        evidence: the trials behind the answer; None without re-runs.
    """

    agent: str | None
    t: int | None = None
    probability: float | None = None
    why: str = ""
    evidence: Evidence | None = None


Method = Callable[[Path], Sequence[Answer]]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that the methods share.

    Attributes:
        reader: the model of the readers, as `llm=NAME`.
        calls: maximum number of answers of a paid model for each run; None: no paid model is called.
        reruns: maximum number of episodes that a search plays for each run.
        margin: margin of a search: see `Question`.
        conditions: by the name of the run, what counts as a success and the margin, if a case has its own.
    """

    reader: str = SIMULATED
    calls: int | None = None
    reruns: int | None = USUAL_BUDGET.reruns
    margin: int | None = None
    conditions: Mapping[str, tuple[str, int | None]] = field(default_factory=dict)


def first_turn(run: Path) -> Sequence[Answer]:
    """Name the first turn of the run."""
    return [_turn(_turns(run)[0])]


def any_turn(run: Path) -> Sequence[Answer]:
    """Name every turn, each as likely: the expected score of guessing, without a draw."""
    return [_turn(turn) for turn in _turns(run)]


def first_difference(run: Path, reference: str) -> Sequence[Answer]:
    """Name the first turn in which the reference policy decides differently; plays nothing again."""
    candidates = decisions_of(Reference.of(Parent.open(run), reference_of(run, reference), CONFIGS)).candidates
    return [Answer(candidates[0].agent, candidates[0].t) if candidates else Answer(None)]


def rules(run: Path) -> Sequence[Answer]:
    """Name the first failure that the trace proves."""
    return [_verdict(judge(run, Question(method=RULES)).verdict)]


def read(run: Path, procedure: str, settings: Settings) -> Sequence[Answer]:
    """Ask a language model that reads the transcript."""
    question = Question(by=(settings.reader,), method=procedure, budget=Budget(calls=settings.calls))
    return [_verdict(judge(run, question).verdict)]


def search(run: Path, reference: str, settings: Settings) -> Sequence[Answer]:
    """Experiment: play the run again with corrections and placebos."""
    success, margin = settings.conditions.get(run.name, (FINISHED.text, None))
    question = Question(
        by=reference_of(run, reference),
        success=Success.parse(success),
        budget=Budget(reruns=settings.reruns, calls=settings.calls),
        margin=settings.margin if margin is None and success == FINISHED.text else margin,
        config_dir=CONFIGS,
        shares=False,
    )
    found = blame(run, question)
    trials = tuple(
        Trials(
            (cause.corrected.wins, cause.corrected.draws),
            (cause.placebo.wins, cause.placebo.draws),
            len(cause.decisions) > 1,
            cause.decisions[0].agent,
            cause.decisions[0].t,
        )
        for cause in found.verdict.causes
    )
    evidence = Evidence(trials, found.verdict.untried, found.decisions - found.candidates, found.exact)
    return [msgspec.structs.replace(_verdict(found.verdict), evidence=evidence)]


def reference_of(run: Path, name: str) -> tuple[str, ...]:
    """Return a reference policy as `quorum blame --reference` takes it.

    Args:
        run: folder of the run.
        name: `heuristic`; `own mind`, the team's mind without a planted fault; or `another mind`: the simulated model
            for a team of greedy rules, and greedy rules for all others.
    """
    agents = RunFolder(run).configuration()["agents"]
    if name == OWN:
        return (agents["name"], "agents.turn=-1") if "base" in agents else (SELF,)
    return ("naive",) if name == ANOTHER and mind_of(run) == USUAL else (USUAL,)


def mind_of(run: Path) -> str:
    """Return the name of the mind of the team, which a fault may wrap."""
    agents = RunFolder(run).configuration()["agents"]
    return str(agents.get("base", agents)["name"])


def methods(settings: Settings) -> Mapping[str, Method]:
    """Return the rows of the table by name."""
    model = settings.reader.removeprefix("llm=")
    return {
        "guess": any_turn,
        "first turn": first_turn,
        RULES: rules,
        **{f"{name} ({model})": partial(read, procedure=name, settings=settings) for name in PROCEDURES},
        **{f"diff: {name}": partial(first_difference, reference=name) for name in REFERENCES},
        **{f"search: {name}": partial(search, reference=name, settings=settings) for name in REFERENCES},
    }


def chosen(names: Sequence[str], settings: Settings) -> Mapping[str, Method]:
    """Return the rows with these names, or all of them.

    Args:
        names: starts of the names of rows, or `module:function` for a function that takes the folder of a run.
        settings: settings of the rows.

    Raises:
        UserError: there is no such row or function.
    """
    every = methods(settings)
    found: dict[str, Method] = {}
    for name in names or every:
        rows = {row: method for row, method in every.items() if row.startswith(name)}
        found |= rows or {name: _function(name, list(every))}
    return found


def _function(place: str, rows: Sequence[str]) -> Method:
    module, _, name = place.partition(":")
    try:
        method: Method = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        hint = f"{choices_hint(place, 'Rows', rows)} Or give a function of your own: module:function."
        raise UserError(f"--method {place}: {error}", hint) from error
    return method


def turns_of(run: Path) -> int:
    """Return the number of turns of a run."""
    return len(_turns(run))


def _turns(run: Path) -> Sequence[TurnTaken]:
    return Transcript.of(read_whole_trace(run)).turns


def _turn(turn: TurnTaken) -> Answer:
    return Answer(turn.agent, turn.t)


def _verdict(verdict: Verdict) -> Answer:
    step = verdict.t if verdict.agent is not None else None
    return Answer(verdict.agent, step, verdict.probability, verdict.reason)
