"""From `quorum branch RUN --at STEP ...` to a cell and the beginning that it has of the run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from maeil.clock import ClockUnit
from maeil.errors import TraceError
from maeil.trace import Instant, Prefix
from maeil.user_errors import UserError
from quorum.agents.llm.replay import Replay
from quorum.experiments.common.memory_file import MEMORY_BEFORE, read_memory
from quorum.experiments.configuration.cell import Branch, Cell
from quorum.experiments.configuration.edits import edited
from quorum.experiments.configuration.inputs import inputs_of
from quorum.experiments.configuration.providers.replay import recorded_calls
from quorum.experiments.configuration.schema import Configuration, validate
from quorum.experiments.episode.branching import Branching
from quorum.experiments.episode.dictated import Words
from quorum.experiments.results.recorded_episode import RecordedEpisode, open_episode
from quorum.experiments.results.run_folder import RunFolder

_AT = re.compile(r"(\d{1,9})(?::(\d{1,12}(?:\.\d{1,12})?))?")


@dataclass(frozen=True, slots=True)
class BranchRequest:
    """What is asked for.

    Attributes:
        run: folder of the run.
        at: the instant: `STEP`, or `STEP:TIME` with a time of the cognitive clock.
        sets: `KEY=VALUE` of minds, models and prompts from then on.
        minds: `AGENT=MIND`: whose mind is which from then on.
        says: `AGENT:TEXT`: what a participant says in its first turn to speak from then on.
        plans: `AGENT:ACTIONS`: what an agent plans in its first turn to plan from then on, as JSON.
        config_dir: folder with more options of the groups.
    """

    run: Path
    at: str
    sets: Sequence[str] = ()
    minds: Sequence[str] = ()
    says: Sequence[str] = ()
    plans: Sequence[str] = ()
    config_dir: Path | None = None

    @property
    def edits(self) -> tuple[str, ...]:
        """All that is another from then on, as `KEY=VALUE`."""
        return (*self.sets, *(f"agents.members.{said}" for said in self.minds))

    @property
    def words(self) -> tuple[Words, ...]:
        """What participants are told.

        Raises:
            UserError: it is not said who, or what.
        """
        return (
            *(Words(who, text=text) for who, text in (_split("--say", said) for said in self.says)),
            *(Words(who, actions=text) for who, text in (_split("--plan", said) for said in self.plans)),
        )


def _split(option: str, said: str) -> tuple[str, str]:
    who, _, what = said.partition(":")
    if not who or not what.strip():
        meant = "TEXT" if option == "--say" else "ACTIONS"
        raise UserError(f"{option} {said}: give AGENT:{meant}", f"For example: {option} agent_0:'...'")
    return who, what


def plan_branch(request: BranchRequest) -> tuple[Cell, Branching, str]:
    """Return what is to be run, the beginning that it has of the run, and a notice where its edits have no effect.

    Raises:
        UserError: there is no such run or instant, its beginning cannot be brought back, or an edit is wrong.
    """
    instant = _instant(request.at)
    for said in request.minds:
        if not re.match(r"[^=.\s]+=.", said):
            raise UserError(f"--mind {said}: give AGENT=MIND", "For example: --mind agent_2=heuristic")
    words = request.words
    episode = open_episode(request.run)
    configuration = _configuration(episode)
    prefix = _prefix(episode, instant)
    calls = _calls(request.run, configuration)
    after = validate(edited(configuration.plain(), request.edits, request.config_dir), recorded=True)
    if configuration.remembers and not after.remembers:
        raise UserError(
            f"{request.run}: its team takes a memory along, and {after.team_label} would not",
            "Give one agent another mind instead of all, or branch a run of minds that do not remember.",
        )
    if words and after.remembers:
        raise UserError(
            f"{words[0]}: not in {after.team_label}, whose minds keep what they said and planned themselves"
        )
    told = tuple(map(str, words))
    branch = Branch(episode.folder.resolve().name, instant.t, instant.t_hat, prefix.digest, request.edits, told)
    cell = Cell(after, after.plain(), inputs_of(after), branch)
    memory = read_memory(episode.folder, MEMORY_BEFORE)
    idle = request.edits and after.identity() == configuration.identity()
    notice = f"{', '.join(request.edits)}: this changes nothing that decides in this run" if idle else ""
    return cell, Branching(str(request.run), configuration, prefix, calls, memory, words), notice


def _instant(at: str) -> Instant:
    found = _AT.fullmatch(at)
    if found is None:
        raise UserError(
            f"--at {at}: give a step, or a step and a time of the cognitive clock", "For example: --at 12 or --at 12:57"
        )
    step, time = found.groups()
    return Instant(int(step), None if time is None else float(time) if "." in time else int(time))


def _configuration(episode: RecordedEpisode) -> Configuration:
    """Return the configuration of a run that can be brought back."""
    if RunFolder(episode.folder).meta().branch is not None:
        raise UserError(
            f"{episode.folder}: it is a branch itself, of two configurations one after the other",
            "Give the run that it branches off, which its meta.json names.",
        )
    configuration = validate(episode.configuration, recorded=True)
    if configuration.clock.unit is ClockUnit.SECONDS:
        raise UserError(
            f"{episode.folder}: clock=seconds: its thoughts took real time, which cannot be had again",
            "Branch a run with clock=tokens or clock=fixed.",
        )
    return configuration


def _prefix(episode: RecordedEpisode, instant: Instant) -> Prefix:
    if instant.t > episode.steps:
        raise UserError(f"--at {instant}: the run ends after step {episode.steps}")
    try:
        return Prefix(episode.trace, instant)
    except TraceError as error:
        raise UserError(f"--at {instant}: {error}") from error


def _calls(run: Path, configuration: Configuration) -> Replay | None:
    return recorded_calls(run, f"{run}: what its models answered") if configuration.uses_models else None
