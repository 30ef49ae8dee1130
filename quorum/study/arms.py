"""Make the arms of a study from the arm that the user gives, and plan their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

from quorum.agents.skills import skills_of
from quorum.configuration.catalogue import EXPERIMENT, EXTENSION
from quorum.configuration.cell import Cell
from quorum.configuration.compose import Composer
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.registry import minds
from quorum.configuration.schema import Configuration
from quorum.episode.planned_cell import PlannedCell
from quorum.study.question import TREATMENT, Question
from quorum.sweeps.experiment_file import Experiment
from quorum.sweeps.grid import Axis, axes
from quorum.sweeps.plan import Planner, SweepPlan, plan_experiment
from quorum_base.user_errors import UserError

SEEDS = "seed=range(0,20)"
"""The default boards of a study."""
SHUFFLED = "shuffled"
TRIES = 4
"""Minimum number of draws of an arm with several tries."""
_APART = 1_000
"""Distance between the numbers of the draws of two arms."""


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm.

    Attributes:
        words: `KEY=VALUE` of all that it sets, except `seed` and `draw`.
        draws: samples of each board.
        says: its description.
        donors: whether its messages come from runs of the treatment, which must exist first.
    """

    words: tuple[str, ...]
    draws: tuple[int, ...]
    says: str
    donors: bool = False

    def drawn(self, draws: int) -> Arm:
        """Return the arm with this many of its draws."""
        return replace(self, draws=tuple(range(self.draws[0], self.draws[0] + draws)))

    def reading(self, donors: Path) -> Arm:
        """Return the arm with the file of the messages that it reads."""
        # A choice with one option: the location of a file is not part of the arm's meaning.
        quoted = str(donors).replace("\\", "\\\\").replace('"', '\\"')
        return replace(self, words=(*self.words, f'extension.control.donors=choice("{quoted}")'), donors=False)


@dataclass(frozen=True, slots=True)
class Treatment:
    """The arm and the boards that the user gives.

    Attributes:
        words: `KEY=VALUE` with one value each, without `seed` and `draw`.
        seeds: the boards.
        draws: samples of each board.
        extensions: names of the extensions, in order.
        configuration: configuration of the first board.
    """

    words: tuple[str, ...]
    seeds: tuple[int, ...]
    draws: tuple[int, ...]
    extensions: tuple[str, ...]
    configuration: Configuration

    @classmethod
    def of(cls, words: Sequence[str], config_dir: ConfigDir = ()) -> Treatment:
        """Read the arguments of a command.

        Raises:
            UserError: an argument cannot be read, or is not allowed in a study.
        """
        found = {axis.key: axis for axis in axes(words, Composer(config_dir))}
        if EXPERIMENT in found:
            raise UserError(f"{found[EXPERIMENT].text}: a study makes its own arms around one team", "Name the team.")
        seeds = _numbers(found.pop("seed") if "seed" in found else axes([SEEDS], Composer(config_dir))[0])
        draws = _numbers(found.pop("draw")) if "draw" in found else (0,)
        for axis in found.values():
            if len(axis.values) > 1:
                raise UserError(
                    f"{axis.text}: a study is about one team, so only seed and draw have several values",
                    "Run a study for each, and compare them.",
                )
        single = tuple(axis.values[0].input_line or "" for axis in found.values())
        extension: Any = found[EXTENSION].values[0].value() if EXTENSION in found else []
        names = (extension,) if isinstance(extension, str) else tuple(map(str, extension))
        whole = Cell.compose([*single, f"seed={seeds[0]}"], config_dir).configuration
        return cls(single, seeds, draws, names, whole)


def _numbers(axis: Axis) -> tuple[int, ...]:
    """Return the numbers of an axis.

    Raises:
        UserError: a value is not a number.
    """
    values = [override.value() for override in axis.values]
    found = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(found) < len(values):
        raise UserError(f"{axis.text}: give whole numbers", f"For example '{axis.key}=range(0,20)'.")
    return tuple(dict.fromkeys(found))


def arms_of(question: Question, treatment: Treatment) -> Iterator[tuple[str, Arm]]:
    """Yield the arms of a question by name, the treatment first. Some may not be possible with the team.

    Each arm has its own draws. So any two arms differ by their cause and by chance, `again` by chance
    alone, and the noise floor is that of the effects. With common draws, a simulated model would give equal answers to
    equal prompts, as no real one does.

    Raises:
        UserError: the question is about talk, and the team does not talk.
    """
    topology = treatment.configuration.topology.name
    if question.talks and "topology" in treatment.configuration.unused:
        raise UserError(f"agents={treatment.configuration.team_label}: the minds of this team do not talk")
    if question.talks and topology == "individual":
        raise UserError(f"topology={topology}: nobody talks in this team", "Choose another: topology=debate.")
    yield TREATMENT, Arm(treatment.words, treatment.draws, "the team that you gave")
    for place, (name, file) in enumerate(question.arms.items(), 1):
        first = range(TRIES) if file.several and len(treatment.draws) < TRIES else treatment.draws
        draws = tuple(place * _APART + draw for draw in first)
        own = [found for word in file.words for found in _resolved(word, treatment.configuration)]
        if file.control:
            own.append(f"{EXTENSION}=[{','.join((*treatment.extensions, file.control))}]")
        members = _members_alone(treatment.configuration) if file.alone else {"": ()}
        for agent, idle in members.items():
            label = name if len(members) == 1 else f"{name} {agent}"
            yield (
                label,
                Arm(replaced(treatment.words, [*own, *idle]), draws, file.says, donors=file.control == SHUFFLED),
            )


def _resolved(word: str, c: Configuration) -> Sequence[str]:
    """Replace `agents=reference` with the world's reference policy: its omniscient planner, else its heuristic.

    If the team makes no model calls, `llm=random` draws plans instead of answers.
    """
    if word == "agents=reference":
        return ("agents=planner" if skills_of(c.env.name).has("planner") else "agents=heuristic",)
    if word == "llm=random" and not c.uses_models:
        return ("agents=random", "topology=individual")
    return (word,)


def replaced(words: Sequence[str], own: Sequence[str]) -> tuple[str, ...]:
    """Return arguments with others that override them; a new option also removes the values of its group.

    The values of extensions stay: a control arm adds an extension.
    """
    keys = {word.partition("=")[0] for word in own}
    groups = {key for key in keys if "." not in key} - {EXTENSION}
    names = ((word, word.partition("=")[0]) for word in words)
    kept = [word for word, key in names if key not in keys and key.partition(".")[0] not in groups]
    return (*kept, *own)


def _members_alone(c: Configuration) -> Mapping[str, tuple[str, ...]]:
    """Return the arguments that let a single agent act, by agent name: one agent for each kind of mind in the team."""
    agents = [f"agent_{index}" for index in range(c.n)]
    first: dict[str, str] = {}
    for agent in agents:
        first.setdefault(repr(c.members.get(agent, c.agents)), agent)
    return {
        acting: tuple(f"{minds.group}.members.{agent}=idle" for agent in agents if agent != acting)
        for acting in first.values()
    }


def experiment_of(arms: Mapping[str, Arm], seeds: Sequence[int], metrics: Sequence[str]) -> Experiment:
    """Return the arms over some boards as an experiment."""
    boards = f"seed=choice({','.join(map(str, seeds))})"
    return Experiment(
        fixed=(),
        grid=(boards,),
        arms={name: (*arm.words, f"draw=choice({','.join(map(str, arm.draws))})") for name, arm in arms.items()},
        metrics=tuple(metrics),
    )


@dataclass(frozen=True, slots=True)
class ArmsPlanner(Planner):
    """Plans the arms of a study.

    Attributes:
        experiment: the arms, as an experiment.
    """

    estimate: ClassVar[str] = "--plan --expect EFFECT,DEVIATION"

    experiment: Experiment

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
        """Plan the cells. Control arms may have arguments without an effect."""
        planned = plan_experiment(self.experiment, words, config_dir)
        return replace(planned, without_effect="", cells=tuple(_board_by_board(planned.cells)))


def _board_by_board(cells: Sequence[PlannedCell]) -> Iterator[PlannedCell]:
    """Yield cells of arms in turns, so that a study that is stopped early has all arms on the same boards."""
    arms: dict[str | None, list[PlannedCell]] = {}
    for cell in cells:
        arms.setdefault(cell.arm, []).append(cell)
    for turn in zip_longest(*arms.values()):
        yield from (cell for cell in turn if cell is not None)
