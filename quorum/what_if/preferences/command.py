"""`quorum export --to preferences`: choose decisions, play their answers as a sweep of branches, and pair them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from maeil.outcomes import Outcome
from quorum.agents.prompting.requests import TURNS
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.providers.replay import ReplayConfig
from quorum.configuration.providers.simulated import SimulatedConfig
from quorum.runs import Row
from quorum.sweeps.command import run_sweep_command, show_plan
from quorum.sweeps.run import SweepRequest, SweepResult
from quorum.sweeps.spending import SweepBudget
from quorum.sweeps.stopping import Stop
from quorum.what_if.branch.parent import Parent
from quorum.what_if.preferences.card import CARD, EVAL, TRAIN, figures_of, files_of
from quorum.what_if.preferences.decisions import Decision, decisions_of, digest_of
from quorum.what_if.preferences.design import Design
from quorum.what_if.preferences.experiment import Experiment
from quorum.what_if.preferences.grid import AnswerGrid
from quorum.what_if.preferences.pairs import Pairs
from quorum_base.registry import NAMED_MODULES
from quorum_base.user_errors import UserError, choices_hint

BRANCHES = "export-preferences-branches"
"""Name of the sweep of all episodes, in the folder of the runs."""


class Runs(Protocol):
    """The runs of an export (`quorum.view.export.episodes.Runs`)."""

    folder: Path
    name: str
    where: str
    out: Path | None
    rows: Sequence[Row]
    remarks: list[str]


class Split(Protocol):
    """Keeps some boards for evaluation (`quorum.view.export.selection.Split`)."""

    share: float

    def evaluates(self, board: int) -> bool:
        """Whether a board is for evaluation, by its seed."""
        ...


@dataclass(frozen=True, slots=True)
class Preferences:
    """A data set of preference pairs, as a format of `quorum export`.

    Attributes:
        design: what to measure at each decision.
        budget: budget of all episodes; required with paid models.
        agents: names of the agents whose decisions count; empty: all.
        turns: kinds of turns, any of which a decision must have; empty: all.
        split: the boards that are for evaluation; None: there is no split.
    """

    TEXTS = True

    design: Design
    budget: SweepBudget
    agents: Sequence[str] = ()
    turns: Sequence[str] = ()
    split: Split | None = None

    def __post_init__(self) -> None:
        for turn in set(self.turns).difference(TURNS):
            raise UserError(f"--turns {turn}: there is no such kind of turn", choices_hint(turn, "Kinds", TURNS))

    @property
    def FILES(self) -> tuple[str, ...]:  # noqa: N802 (the name in the protocol of formats)
        """Names of its files."""
        return (CARD, TRAIN) if self.split is None else (CARD, TRAIN, EVAL)

    def write(self, runs: Runs, folder: Path) -> None:
        """Play the missing episodes, and write the pairs of all decisions that are measured completely.

        Raises:
            UserError: no decision can be measured, or paid models have no budget.
            KeyboardInterrupt: the user stopped the sweep; the same command resumes it.
        """
        experiments = self._experiments(runs)
        request = replace(self._request(runs), planner=AnswerGrid(experiments=experiments))
        with _own_hints():
            result = _play(request, experiments)
        if result.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        found = Pairs(self.design, len({experiment.parent.run for experiment in experiments}))
        for experiment in experiments:
            found.add(experiment, experiment.look())
        if result.complaint:
            runs.remarks.append(result.complaint)
        if not found.rows:
            counts = "; ".join(f"{label}: {figure}" for label, figure in figures_of(found).items())
            raise UserError(f"there is no pair to write ({counts})", result.complaint or "Measure more: --measure.")
        for name, data in files_of(runs.name, found, self.split.evaluates if self.split is not None else None).items():
            (folder / name).write_bytes(data)

    def forecast(self, runs: Runs) -> Mapping[str, Any]:
        """Return what the missing episodes take at most, as if all sampled answers differed. Plays nothing.

        Raises:
            UserError: no decision can be measured.
        """
        experiments = self._experiments(runs)
        planner = AnswerGrid(experiments=experiments, foresees=True)
        with _own_hints():
            found = show_plan(replace(self._request(runs), planner=planner))
        for notice in found.notices:
            runs.remarks.append(notice)
        return {
            "decisions": len(experiments),
            "episodes": len(found.cells),
            "answers": round(found.answers),
            "tokens": round(found.tokens),
            "usd": None if found.usd is None else round(found.usd, 6),
            "seconds": round(found.seconds),
            "simulated": found.simulated,
            "estimated_from": "the rest of each run, if all sampled answers differ",
        }

    def _wants(self, decision: Decision) -> bool:
        agents, turns = set(self.agents), set(self.turns)
        return decision.agent in (agents or {decision.agent}) and (
            not turns or not turns.isdisjoint(decision.call.get("turn", ()))
        )

    def _request(self, runs: Runs) -> SweepRequest:
        words = ["quorum", "export", str(runs.folder), "--to", "preferences", "--measure", str(self.design)]
        kept = {"--where": runs.where, "--split": f"boards={self.split.share}" if self.split else "", "--out": runs.out}
        kept |= {"--agents": ",".join(self.agents), "--turns": ",".join(self.turns)}
        words += [word for option, value in kept.items() if value for word in (option, str(value))]
        budget = self.budget
        return SweepRequest(
            words=(),
            out=runs.folder,
            name=BRANCHES,
            retry_failed=True,
            budget_usd=budget.usd,
            budget_tokens=budget.tokens,
            budget_calls=budget.calls,
            plugins=tuple(sorted(NAMED_MODULES)),
            resume_command=shlex.join([*words, *budget.words]),
        )

    def _experiments(self, runs: Runs) -> list[Experiment]:
        """Choose decisions of all runs.

        The order of choice is that of the digests of their prompts: as good as random, and a larger number keeps the
        decisions of a smaller one, so that nothing is measured twice.
        """
        found: list[Experiment] = []
        place = self._request(runs).folder("").path
        for folder in dict.fromkeys(row.folder for row in runs.rows if row.outcome != Outcome.ERROR):
            try:
                parent = Parent.open(folder.absolute())
                decisions = _sampled(parent)
            except UserError as error:
                runs.remarks.append(f"{folder.name} is left out: {error}")
                continue
            wanted = [one for one in decisions if self._wants(one)]
            chosen = sorted(wanted, key=lambda one: digest_of(one.call))[: self.design.decisions]
            found += [Experiment(parent, decision, self.design, place) for decision in chosen]
        if not found:
            raise UserError(f"{runs.folder}: it has no decision with other answers", "\n".join(runs.remarks))
        return found


def _sampled(parent: Parent) -> list[Decision]:
    """Return the decisions of a run whose models can give other answers to the same prompts.

    Raises:
        UserError: there is none.
    """
    found, reason = [], "no answer of a language model committed a plan or sent a message"
    for decision in decisions_of(parent.episode):
        model = parent.configuration.llm_of(decision.agent, decision.call.get("role", ""))
        temperature = model.temperature if isinstance(model, ProviderConfig) else None
        if isinstance(model, ReplayConfig):
            reason = "llm=replay has one answer to each prompt; record runs of a model that samples"
        elif temperature == 0 or (temperature is None and isinstance(model, SimulatedConfig)):
            reason = "at this temperature its model repeats its answers; record runs with llm.temperature=1"
        else:
            found.append(decision)
    if not found:
        raise UserError(reason)
    return found


@contextmanager
def _own_hints() -> Iterator[None]:
    """Replace hints that suggest another name of the sweep, which this command does not take."""
    try:
        yield
    except UserError as error:
        if "--name" not in error.hint:
            raise
        raise UserError(error.message, f"Remove {BRANCHES} to measure everything again.") from error


def _play(request: SweepRequest, experiments: Sequence[Experiment]) -> SweepResult:
    """Play the missing episodes: first those that sample answers, then those that follow from them."""
    result = run_sweep_command(request, quiet=False)
    while not (result.left or result.failed) and any(one.look().missing for one in experiments):
        result = run_sweep_command(request, quiet=False)
    return result
