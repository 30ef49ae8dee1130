"""From `quorum branch RUN --at STEP ...` to a planned branch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.experiments.branch.change import Change, read_world_change
from quorum.experiments.branch.parent import Parent, PlannedBranch
from quorum.experiments.episode.branch_minds import ScriptedAnswer

_AT = re.compile(r"(\d{1,9})(?::(\d{1,12}(?:\.\d{1,12})?))?")


@dataclass(frozen=True, slots=True)
class BranchRequest:
    """One branch of one run.

    Attributes:
        run: folder of the run.
        at: the branch point, `STEP` or `STEP:TIME` with a cognitive time; None: where the first dropped message is
            sent.
        sets: `KEY=VALUE` from then on.
        minds: `AGENT=MIND`: another mind for an agent.
        says: `AGENT:TEXT`: a message for a participant's next turn to speak.
        plans: `AGENT:ACTIONS`: a plan, in JSON, for an agent's next turn to plan.
        drops: ids of messages that are not delivered.
        config_dir: folder with more options of the groups.
        world: a change of the world state, in JSON.
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
        """All changes of the configuration, as `KEY=VALUE`.

        Raises:
            UserError: a mind lacks its agent or its name.
        """
        return (*self.sets, *edits_of_minds(self.minds))

    @property
    def change(self) -> Change:
        """Everything that the branch changes.

        Raises:
            UserError: a part of it cannot be read.
        """
        words = (
            *(ScriptedAnswer(who, text=text) for who, text in (_split("--say", said) for said in self.says)),
            *(ScriptedAnswer(who, actions=text) for who, text in (_split("--plan", said) for said in self.plans)),
        )
        world = read_world_change(self.world) if self.world is not None else None
        drops = tuple(dict.fromkeys(self.drops))
        return Change(self.edits, words, drops, self.config_dir, world=world)


def _split(option: str, text: str) -> tuple[str, str]:
    who, _, what = text.partition(":")
    if not who or not what.strip():
        meant = "TEXT" if option == "--say" else "ACTIONS"
        raise UserError(f"{option} {text}: give AGENT:{meant}", f"For example: {option} agent_0:'...'")
    return who, what


def plan_branch(request: BranchRequest) -> PlannedBranch:
    """Plan a branch.

    Raises:
        UserError: there is no such run or branch point, the run cannot be replayed, or an edit is wrong.
    """
    return next(plan_draws(request, 1))


def plan_draws(request: BranchRequest, draws: int) -> Iterator[PlannedBranch]:
    """Plan samples of a branch, each when it is asked for; the first continues with the randomness of the run.

    Args:
        request: the branch.
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
        UserError: the agent or the mind is missing.
    """
    for text in minds:
        if not re.match(r"[^=.\s]+=.", text):
            raise UserError(f"--mind {text}: give AGENT=MIND", "For example: --mind agent_2=heuristic")
    return tuple(f"agents.members.{text}" for text in minds)


def instant_of(at: str) -> Instant:
    """Read a branch point, `STEP` or `STEP:TIME`.

    Raises:
        UserError: it is neither.
    """
    found = _AT.fullmatch(at)
    if found is None:
        raise UserError(f"--at {at}: give a step, or a step and a cognitive time", "For example: --at 12 or --at 12:57")
    step, time = found.groups()
    return Instant(int(step), None if time is None else float(time) if "." in time else int(time))
