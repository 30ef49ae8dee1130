"""The decisions of a recorded run that a choice probe measures, with the prompt of each control arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from maeil import Mind, TeamContext
from maeil.calls import Ledger, entered_in
from maeil.component import Handover
from maeil.mind import Act, Thought, View
from maeil.trace import Instant
from maeil.world import World
from quorum.agents.llm.protocol import Request
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.registry import minds
from quorum.configuration.schema import Configuration
from quorum.episode.model_pool import ModelPool
from quorum.episode.team import Team, build_team
from quorum.what_if.branch.parent import Parent
from quorum.what_if.branch.shadows import replay_with
from quorum.what_if.choice.arms import Donor, Heard, views_of
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True)
class Decision:
    """A turn in which an agent plans after it has heard messages.

    Attributes:
        run: name of the run.
        board: seed of the run.
        agent: name of the agent.
        t: environment step.
        t_hat: cognitive time at which its thought started.
        heard: what the messages say.
        requests: the request for its plan in each arm.
    """

    run: str
    board: int
    agent: str
    t: int
    t_hat: int | float
    heard: Heard
    requests: Mapping[str, Request]


class _Written(Exception):
    """A mind has written its request."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


class _NoModel:
    """Stands for a model, and only shows the request that reaches it."""

    async def complete(self, request: Request) -> None:
        raise _Written(request)


@dataclass
class _Listener:
    """A mind whose decisions are collected with the prompts that another mind writes for them.

    Attributes:
        mind: decides.
        writer: writes the prompts.
        world: lists the available tasks.
        after: the configuration of the writer.
        board: the run and its seed.
        at: the instants to collect; empty: all.
        donors: messages of other boards.
        found: the decisions so far.
    """

    mind: Mind
    writer: Mind
    world: World
    after: Configuration
    board: tuple[str, int]
    at: Sequence[Instant]
    donors: Sequence[Donor]
    found: list[Decision] = field(default_factory=list)

    async def think(self, view: View) -> Thought:
        """Let the mind decide; collect the turn if it plans from the start, after messages that name a choice."""
        if Act.PLAN in view.turn.acts and not (view.may_resume or view.problems or view.team) and self._wanted(view):
            heard = Heard.of(view, self.world.tasks(view.agent) or {})
            if heard is not None:
                arms = views_of(view, heard.choices, self.donors)
                requests = {arm: request for arm, other in arms if (request := await self._request(other)) is not None}
                if requests:
                    self.found.append(Decision(*self.board, view.name, view.t, view.t_hat, heard, requests))
        return await self.mind.think(view)

    def _wanted(self, view: View) -> bool:
        return not self.at or any(one.t == view.t and one.t_hat in (None, view.t_hat) for one in self.at)

    async def _request(self, view: View) -> Request | None:
        """Return the request that the writer makes in a turn; None if it makes none."""
        try:
            with entered_in(Ledger()):  # keep it out of the calls of the thought
                await self.writer.think(view)
        except _Written as written:
            asked, model = written.request, self.after.llm_of(view.name)
            answer = asked.answer
            if answer is not None and isinstance(model, ProviderConfig) and model.grounded_schema:
                answer = answer.ground()  # now, since it names what exists in this state of the world
            return replace(asked, sample=0, answer=answer)
        return None


async def decisions_of(
    parent: Parent, after: Configuration, at: Sequence[Instant], donors: Sequence[Donor], pool: ModelPool
) -> list[Decision]:
    """Replay a run, and return its decisions in the order of time. Nothing is sent to a model.

    Args:
        parent: the run.
        after: the configuration whose minds write the prompts.
        at: the instants of the decisions; empty: all.
        donors: messages of other boards.
        pool: the model pool of the process.

    Raises:
        UserError: the run cannot be replayed, or its minds write prompts that depend on earlier answers.
    """
    for mind in after.team.values():
        if minds.get(mind.name).handover is not Handover.FRESH or getattr(mind, "memory", "none") != "none":
            raise UserError(
                f"{parent.run}: agents={mind.name}: the prompts of such minds depend on their earlier answers",
                "Probe a team of minds that write each prompt from what they see, such as agents=naive.",
            )
    found: list[Decision] = []
    board = parent.name, parent.configuration.seed

    def shadowed(team: Team, context: TeamContext) -> Team:
        writers = build_team(after, replace(context, models=lambda _: _NoModel())).minds
        pairs = zip(team.minds, writers, strict=True)
        seats = [_Listener(mind, writer, context.world, after, board, at, donors, found) for mind, writer in pairs]
        return replace(team, minds=seats)

    if parent.episode.story.messages:
        await replay_with(parent, pool, shadowed)
    return sorted(found, key=lambda one: (one.t, one.t_hat, one.agent))
