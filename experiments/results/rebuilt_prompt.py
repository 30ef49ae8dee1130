"""The prompt of a turn that nobody took: the state of a recorded run, as a mind with a language model is shown it.

The world is brought back from the seed and the joint actions, plans and messages from the trace. What symbolic actions
note for themselves while they run is not there, such as the history of an agent's actions in CUBE.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from maeil import Seeds, TeamContext, TopologyContext, World
from maeil.messages import Message, MessageKind
from maeil.mind import Act, PlanView, Turn, View
from maeil.plans import PlanStatus, Task
from maeil.settings import LoopSettings
from maeil.trace.events import ActionChange, MessageRead, MessageSent, PlanChange, Stamped, StepTaken, ThoughtStart
from quorum.agents.llm.protocol import Reply, Request
from quorum.experiments.common.memory_file import MEMORY_BEFORE, read_memory
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.checked_values import component_values
from quorum.experiments.configuration.registry import minds, topologies
from quorum.experiments.results.recorded_episode import RecordedEpisode


class _Asked(Exception):
    """The mind has asked its model."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


class _Catcher:
    """Stands in the place of a model."""

    async def complete(self, request: Request) -> Reply:
        raise _Asked(request)


def rebuilt_request(episode: RecordedEpisode, agent: int, step: int, words: Sequence[str]) -> Request | None:
    """Return what a mind would ask its model in the state of a step, if it had to plan then.

    Args:
        episode: the recorded run.
        agent: index of an agent.
        step: environment step.
        words: values of the mind and its prompts, as for a run; `agents=naive` where they name none.

    Returns:
        None when the mind asks nothing.

    Raises:
        UserError: a word is wrong, the memory that the team brought along is damaged, or the world does something else
            than the trace says.
    """
    named = any(word.startswith("agents=") for word in words)
    cell = Cell.compose([*words, *([] if named else ["agents=naive"])])
    world = _at(episode, step)
    topology = component_values(topologies, episode.configuration, recorded=True)
    built = topologies.get(topology.name).build(topology, TopologyContext(len(world.agents)))
    memory = read_memory(episode.folder, MEMORY_BEFORE)
    memories = memory.memories if memory is not None else {}
    context = TeamContext(world, built, Seeds(0), lambda _: _Catcher(), memories)
    config = cell.configuration.agents
    mind = minds.get(config.name).build(config, context)[agent]
    try:
        asyncio.run(mind.think(_view(episode, world, agent, step)))
    except _Asked as asked:
        return asked.request
    return None


def _at(episode: RecordedEpisode, step: int) -> World:
    world = episode.world()
    for t in episode.replay(world):
        if t == step:
            break
    return world


def _before(episode: RecordedEpisode, step: int) -> Iterator[Stamped]:
    """Yield what had happened when the team began to think in a step."""
    for stamped in episode.trace.events:
        if stamped.t >= step and isinstance(stamped.event, ThoughtStart | StepTaken):
            return
        yield stamped


def _view(episode: RecordedEpisode, world: World, agent: int, step: int) -> View:
    names = (*episode.trace.start.agents, *episode.trace.start.coordinators)
    plans: dict[str, PlanView] = {}
    memory: list[Message] = []
    mailbox: dict[int, Message] = {}
    now = episode.trace.events[0]
    for now in _before(episode, step):
        match now.event:
            case PlanChange(agent=owner) if owner == agent:
                plans[now.event.plan] = _changed(plans.get(now.event.plan), now.event, world)
            case ActionChange(agent=owner, status="success", plan=name) if owner == agent:
                plan = plans[name]
                plans[name] = PlanView(plan.id, plan.task, plan.actions, plan.done + 1, plan.status, plan.reason)
            case MessageSent() if agent in (now.event.sender, *now.event.recipients):
                message = _message(now, now.event)
                if now.event.sender == agent:
                    memory.append(message)
                else:
                    mailbox[message.id] = message
            case MessageRead(agent=reader) if reader == agent:
                memory.append(mailbox.pop(now.event.message))
    live = [plan for plan in plans.values() if not PlanStatus(plan.status).final]
    ended = [plan for plan in plans.values() if PlanStatus(plan.status).final]
    settings = LoopSettings()
    return View(
        agent=agent,
        name=names[agent],
        names=names,
        turn=Turn(agent, frozenset({Act.PLAN})),
        t=step,
        t_hat=now.t_hat,
        observation=world.observe(agent),
        unread=tuple(mailbox.values()),
        memory=tuple(memory[-settings.memory_messages :]),
        plan=live[-1] if live else None,
        outcomes=tuple(ended[-settings.memory_plans :]),
    )


def _changed(before: PlanView | None, change: PlanChange, world: World) -> PlanView:
    if before is None:
        actions = tuple(str(world.vocabulary.parse(action)) for action in change.actions or ())
        task = Task(**change.task) if change.task is not None else None
        return PlanView(change.plan, task, actions, 0, PlanStatus(change.status), change.reason)
    return PlanView(before.id, before.task, before.actions, before.done, PlanStatus(change.status), change.reason)


def _message(stamped: Stamped, sent: MessageSent) -> Message:
    recipients = tuple(sent.recipients)
    kind = MessageKind(sent.what)
    return Message(
        sent.message, sent.sender, recipients, sent.content, kind, stamped.t, stamped.t_hat, sent.delivered_at
    )
