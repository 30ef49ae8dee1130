"""From `quorum branch RUN --at STEP ...` to the branch that it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.parent import Parent, PlannedBranch
from quorum.experiments.branch.world import read_changes
from quorum.experiments.episode.dictated import Words

_AT = re.compile(r"(\d{1,9})(?::(\d{1,12}(?:\.\d{1,12})?))?")


@dataclass(frozen=True, slots=True)
class BranchRequest:
    """What is asked for.

    Attributes:
        run: folder of the run.
        at: the instant: `STEP`, or `STEP:TIME` with a time of the cognitive clock; None: that of the first message that
            is dropped.
        sets: `KEY=VALUE` of minds, models and prompts from then on.
        minds: `AGENT=MIND`: whose mind is which from then on.
        says: `AGENT:TEXT`: what a participant says in its first turn to speak from then on.
        plans: `AGENT:ACTIONS`: what an agent plans in its first turn to plan from then on, as JSON.
        drops: ids of messages that their senders do not send.
        config_dir: folder with more options of the groups.
        world: what of the world is another from then on, as JSON.
    """

    run: Path
    at: str | None = None
    sets: Sequence[str] = ()
    minds: Sequence[str] = ()
    says: Sequence[str] = ()
    plans: Sequence[str] = ()
    drops: Sequence[int] = ()
    config_dir: Path | None = None
    world: str | None = None

    @property
    def edits(self) -> tuple[str, ...]:
        """All that is another from then on, as `KEY=VALUE`.

        Raises:
            UserError: it is not said whose mind is another, or which one it is.
        """
        return (*self.sets, *edits_of_minds(self.minds))

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

    @property
    def change(self) -> Change:
        """The same in one.

        Raises:
            UserError: something of it cannot be read.
        """
        world = read_changes(self.world) if self.world is not None else None
        drops = tuple(dict.fromkeys(self.drops))
        return Change(self.edits, self.words, drops, self.config_dir, world=world)


def _split(option: str, said: str) -> tuple[str, str]:
    who, _, what = said.partition(":")
    if not who or not what.strip():
        meant = "TEXT" if option == "--say" else "ACTIONS"
        raise UserError(f"{option} {said}: give AGENT:{meant}", f"For example: {option} agent_0:'...'")
    return who, what


def plan_branch(request: BranchRequest) -> PlannedBranch:
    """Return what is to be run.

    Raises:
        UserError: there is no such run or instant, its beginning cannot be brought back, or an edit is wrong.
    """
    return next(plan_draws(request, 1))


def plan_draws(request: BranchRequest, draws: int) -> Iterator[PlannedBranch]:
    """Return samples from one instant, each as it is asked for; the first goes on with the randomness of the run.

    Args:
        request: what is asked for.
        draws: number of samples.

    Raises:
        UserError: as in `plan_branch`, for the first of them.
    """
    instant = instant_of(request.at) if request.at is not None else None
    change = request.change
    parent = Parent.open(request.run)
    for draw in range(draws):
        yield parent.branch(instant, change, draw)


def edits_of_minds(minds: Sequence[str]) -> tuple[str, ...]:
    """Return `AGENT=MIND` as `KEY=VALUE`.

    Raises:
        UserError: it is not said whose mind is another, or which one it is.
    """
    for said in minds:
        if not re.match(r"[^=.\s]+=.", said):
            raise UserError(f"--mind {said}: give AGENT=MIND", "For example: --mind agent_2=heuristic")
    return tuple(f"agents.members.{said}" for said in minds)


def instant_of(at: str) -> Instant:
    """Read `STEP` or `STEP:TIME`.

    Raises:
        UserError: it is neither.
    """
    found = _AT.fullmatch(at)
    if found is None:
        raise UserError(
            f"--at {at}: give a step, or a step and a time of the cognitive clock", "For example: --at 12 or --at 12:57"
        )
    step, time = found.groups()
    return Instant(int(step), None if time is None else float(time) if "." in time else int(time))
