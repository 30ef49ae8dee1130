"""Replay a run with shadows: minds that think in its turns, and whose answers are discarded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from maeil import TeamContext
from maeil.trace import Instant, Recorder
from maeil.world import closing_world
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.parts import build, play
from quorum.episode.start import StartRefused
from quorum.episode.team import Team
from quorum.what_if.branch.branching import BranchStart
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.parent import Parent
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShadowedStart(BranchStart):
    """The start of a replay with shadows.

    Attributes:
        shadowed: adds the shadows to the minds of a team.
    """

    shadowed: Callable[[Team, TeamContext], Team]

    def team(self, team: Team, context: TeamContext) -> Team:
        return self.shadowed(BranchStart.team(self, team, context), context)


async def replay_with(parent: Parent, pool: ModelPool, shadowed: Callable[[Team, TeamContext], Team]) -> None:
    """Replay a run, whose models answer as recorded, with the minds of a changed team.

    Args:
        parent: the run, with at least one thought.
        pool: the model pool of the process.
        shadowed: adds shadows to the minds of its team. They must not change what the minds answer.

    Raises:
        UserError: the run cannot be replayed.
    """
    last = parent.episode.story.thoughts[-1].start
    replayed = parent.branch(Instant(last.t, last.t_hat), Change()).start
    own = {one.name: getattr(replayed, one.name) for one in fields(replayed)}
    start = _ShadowedStart(**own, shadowed=shadowed)
    cell = parent.cell()
    try:
        models = start.models(cell, pool, CallLedger(cell.configuration, None), recorded=start.calls)
        parts = build(cell, models, start)
        with closing_world(parts.world), Recorder(None, start.listeners) as recorder, start.checked():
            await play(cell, parts, recorder, start)
    except UserError:
        raise
    except Exception as error:
        if not start.prefix.live:
            raise StartRefused(f"{parent.run}: {type(error).__name__}: {error}") from error
