"""A study: its question, its arms and boards, and how its runs are planned."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from maeil.metrics import METRICS
from quorum.comparison.metrics import find_metric
from quorum.configuration.registry import engines, trackers
from quorum.configuration.sweep_arguments import split_arguments
from quorum.study.anytime import Plan
from quorum.study.arms import Arm, ArmsPlanner, Treatment, arms_of, experiment_of
from quorum.study.donors import DONORS, write_no_donors
from quorum.study.question import AGAIN, TREATMENT, Question, load_question
from quorum.study.until import Until, largest_difference
from quorum.sweeps.plan import plan_experiment
from quorum.sweeps.run import SweepRequest
from quorum.sweeps.sweep_folder import SweepFolder
from quorum_base.user_errors import UserError

_USUAL = "outcome.score"
_BY_WORLD = {"cube": "outcome.steps_or_limit", "transport": "outcome.steps_or_limit"}
"""Default metric by world: in these worlds nearly all teams finish, and differ in their steps."""
_AS_WELL = ("outcome.completion", "communication.messages", "model.calls")
"""Additional metrics of its tables."""


@dataclass(frozen=True, slots=True)
class StudyRequest(SweepRequest):
    """The arguments of `quorum study`. Its `words` are those of the treatment, and of the engine.

    Attributes:
        question: name of the question.
        metrics: metrics of the study, the main one first; empty for the default.
        until: when to stop adding boards; empty: after the named ones.
        most_boards: maximum number of boards with `until`.
        expected: the expected effect and standard deviation over boards; None: no expectation.
    """

    question: str = field(kw_only=True)
    metrics: tuple[str, ...] = ()
    until: str = ""
    most_boards: int = 200
    expected: tuple[float, float] | None = None

    @property
    def command(self) -> str:
        """The command that continues the study."""
        options = [word for metric in self.metrics for word in ("--metric", metric)]
        options += ["--until", self.until] if self.until else []
        options += ["--expect", "{:g},{:g}".format(*self.expected)] if self.expected is not None else []
        options += ["--most-boards", str(self.most_boards)] if self.until else []
        words = ("quorum", "study", self.question, *self.words, *options, *self.common_options)
        return self.resume_command or shlex.join(words)


@dataclass(frozen=True)
class Study:
    """A study that is ready to play.

    Attributes:
        request: its request.
        question: the question.
        treatment: the team of the study.
        arms: arms that can be played, by name, the treatment first.
        skipped: arms that are not possible with this team, each with the reason.
    """

    request: StudyRequest
    question: Question
    treatment: Treatment
    arms: Mapping[str, Arm]
    skipped: Mapping[str, str]

    @classmethod
    def of(cls, request: StudyRequest, *, with_keys: bool = True) -> Study:
        """Make the arms of a study, and check one cell of each before playing anything.

        Args:
            request: the request.
            with_keys: whether to require keys of providers and a writable folder; a plan needs neither.

        Raises:
            UserError: there is no such question, its folder cannot be written, or the treatment cannot be played.
        """
        question = load_question(request.question)
        treatment = Treatment.of(split_arguments(request.words, engines, trackers)[1], request.config_dir)
        if with_keys:
            SweepFolder(request.out, _name(request, treatment)).check()
        found = dict(arms_of(question, treatment))
        arms: dict[str, Arm] = {}
        skipped: dict[str, str] = {}
        known: dict[str, str] = {}
        for name, arm in found.items():
            try:
                cell = _first_cell(arm, treatment, request, with_keys=with_keys)
            except UserError as error:
                if name == TREATMENT:
                    raise
                skipped[name] = str(error).partition("\n")[0]
                continue
            if cell in known and name != AGAIN:
                skipped[name] = f"same as the arm {known[cell]}"
                continue
            known.setdefault(cell, name)
            arms[name] = arm
        return cls(request, question, treatment, arms, skipped)

    @cached_property
    def name(self) -> str:
        """Name of its folder: the same for one question about one team, however many boards and draws."""
        return _name(self.request, self.treatment)

    @property
    def folder(self) -> Path:
        """Folder of its runs."""
        return self.request.out.absolute() / self.name

    @cached_property
    def until(self) -> Until | None:
        """When to stop adding boards; None: after the named ones.

        Raises:
            UserError: the condition cannot be read.
        """
        return Until.parse(self.request.until) if self.request.until else None

    def bound(self, metric: str) -> float:
        """Return the largest possible difference of a metric.

        Raises:
            UserError: it has no known range.
        """
        return largest_difference(metric, self.treatment.configuration)

    @property
    def planned(self) -> Plan | None:
        """What was expected before the first board; None: nothing."""
        return Plan(*self.request.expected) if self.request.expected is not None else None

    @property
    def metrics(self) -> tuple[str, ...]:
        """Its metrics, the main one first: as given, else that of `until`, else the default of the world.

        Raises:
            UserError: the first has no better direction, or `until` needs the range of a metric that has none.
        """
        asked = [find_metric(name, f"--metric {name}") for name in self.request.metrics]
        also = [self.until.metric] if self.until is not None else []
        first = asked or also or [_BY_WORLD.get(self.treatment.configuration.env.name, _USUAL)]
        if METRICS[first[0]].better is None:
            raise UserError(
                f"--metric {first[0]}: neither more nor less of it is better", "Choose one with a better direction."
            )
        for name in (first[0], *also) if also else ():
            self.bound(name)
        return tuple(dict.fromkeys((*first, *also, *_AS_WELL)))

    def request_of(self, arms: Mapping[str, Arm], seeds: Sequence[int]) -> SweepRequest:
        """Return the sweep that plays some arms on some boards."""
        aside, _ = split_arguments(self.request.words, engines, trackers)
        arms_of_it = experiment_of(arms, seeds, self.metrics)
        planner, resume_command = ArmsPlanner(arms_of_it), self.request.command
        return replace(self.request, words=tuple(aside), name=self.name, planner=planner, resume_command=resume_command)


def _name(request: StudyRequest, treatment: Treatment) -> str:
    digest = hashlib.sha256("\n".join(sorted(treatment.words)).encode()).hexdigest()
    return request.name if request.name is not None else f"study-{request.question}-{digest[:8]}"


def _first_cell(arm: Arm, treatment: Treatment, request: StudyRequest, *, with_keys: bool) -> str:
    """Plan the first cell of an arm, build it, run it up to its first request, and return its hash.

    The cell has the treatment's first draw, so that equal arms have equal hashes.
    """
    one = replace(arm, draws=treatment.draws[:1])
    with TemporaryDirectory() as folder:
        if arm.donors:
            one = one.reading(write_no_donors(Path(folder) / DONORS))
        planned = plan_experiment(experiment_of({"": one}, treatment.seeds[:1], ()), (), request.config_dir)
        checked = planned.checked(request.out, skip_invalid=False, with_keys=with_keys)
    return checked.cells[0].hash
