"""The prompt of a turn of a recorded run: from its calls as they were asked, else from its world, brought back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from maeil import Seeds, TeamContext, TopologyContext, World
from maeil.messages import Message, MessageKind
from maeil.mind import Act, PlanView, Turn, View
from maeil.plans import PlanStatus, Task
from maeil.settings import LoopSettings
from maeil.trace.events import MessageRead, MessageSent, Stamped, StepTaken, ThoughtStart
from maeil.trace.story import PlanLife
from maeil.user_errors import UserError, choices_hint
from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Reply, Request
from quorum.agents.llm.recording import Unfolding
from quorum.experiments.common.memory_file import MEMORY_BEFORE, read_memory
from quorum.experiments.common.run_files import LARGEST_PICTURE, DamagedFile, RunFiles, picture_file
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.checked_values import component_values
from quorum.experiments.configuration.registry import minds, topologies
from quorum.experiments.episode.prompt import Prompt, Wanted, choices
from quorum.experiments.results.recorded_episode import RecordedEpisode, open_episode

CALLS = "calls.jsonl"
_MOST_NAMED = 12
"""Steps that a message names."""


def recorded_prompt(wanted: Wanted) -> Prompt:
    """Return what a participant was asked in a step of a recorded run, word by word.

    Where it asked no model, or where `rest` names another mind or other prompts, it is what that mind would ask in this
    state if it had to plan.

    Args:
        wanted: `at` names the run and the step.

    Raises:
        UserError: there is no such run, step, participant, role or turn.
    """
    folder, step = _place(wanted)
    episode = open_episode(folder)
    if step > episode.steps:
        raise UserError(f"at={wanted.at}: the run ends after step {episode.steps}")
    participant = _participant(wanted, episode)
    calls = [call for call in _calls(folder) if call.get("agent") == participant]
    if wanted.rest or not calls:
        return _rebuilt(wanted, episode, participant, step)
    in_step = [call for call in calls if call.get("t") == step]
    if not in_step:
        steps = {int(call["t"]) for call in calls}
        near = sorted(sorted(steps, key=lambda t: abs(t - step))[:_MOST_NAMED])
        raise UserError(
            f"at={wanted.at}: {participant} was asked nothing in step {step}",
            f"Nearest steps in which it was: {', '.join(map(str, near))}.",
        )
    fits = [
        call
        for call in in_step
        if (not wanted.role or call.get("role") == wanted.role)
        and (not wanted.turn or wanted.turn in call.get("turn", ()))
    ]
    if fits:
        return _prompt(folder, fits[0], participant, step, len(fits))
    hint = choices(
        wanted, sorted({call["role"] for call in in_step if "role" in call}), [c.get("turn", ()) for c in in_step]
    )
    raise UserError(f"{wanted.words}: {participant} was not asked so in step {step}", hint)


def _rebuilt(wanted: Wanted, episode: RecordedEpisode, participant: str, step: int) -> Prompt:
    agents = episode.trace.start.agents
    if participant not in agents or wanted.role or wanted.turn not in ("", "plan", "interrupted"):
        raise UserError(
            f"at={wanted.at}: of a turn that was not taken, only that of an agent that has to plan can be shown",
            "Leave out role= and turn=, and name an agent; or give a run whose minds asked a language model.",
        )
    request = rebuilt_request(episode, list(agents).index(participant), step, wanted.rest)
    if request is None or request.origin is None:
        raise UserError(f"at={wanted.at}: this mind asks no language model to plan", "Choose agents=naive.")
    remark = (
        "nobody was asked this: the world, plans and messages are brought back from the trace,"
        " without what running actions note for themselves"
    )
    return Prompt(participant, step, request.origin.role, request.origin.turn, request.messages, request.answer, remark)


def _place(wanted: Wanted) -> tuple[Path, int]:
    name, colon, step = wanted.at.rpartition(":")
    if not colon or not name or not step.isdigit():
        raise UserError(f"at={wanted.at}: give the folder of a run and a step", "For example at=runs/NAME:12.")
    return Path(name), int(step)


def _participant(wanted: Wanted, episode: RecordedEpisode) -> str:
    names = [*episode.trace.start.agents, *episode.trace.start.coordinators]
    agent = wanted.agent or "0"
    if agent in names:
        return agent
    if agent.isdigit() and int(agent) < len(names):
        return names[int(agent)]
    raise UserError(f"agent={agent}: there is no such participant", choices_hint(agent, "They are", names))


def _calls(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a run's calls, each whole; none where it has no such file."""
    reader = Unfolding()
    try:
        for line in RunFiles(folder).lines(CALLS):
            yield reader.whole(reader.read(line))
    except FileNotFoundError:
        return
    except DamagedFile as error:
        raise UserError(f"{folder}: {error.message}", error.hint) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(f"{folder / CALLS} is damaged: {error}") from error


def _pictures(folder: Path, message: Mapping[str, Any]) -> Iterator[Picture]:
    """Yield the pictures of a recorded message; their bytes stay on disk until they are asked for."""
    for record in message.get("pictures", ()):
        try:
            name = picture_file(record["hash"])
            yield Picture(record["hash"], record["width"], record["height"], partial(_png, folder, name))
        except (ValueError, LookupError, TypeError) as error:
            raise UserError(f"{folder / CALLS} is damaged: a picture: {error}") from error


def _png(folder: Path, name: str) -> bytes:
    png = RunFiles(folder).read(name, LARGEST_PICTURE)
    if png is None:
        raise UserError(f"{folder / name}: there is no such file", "The picture of this prompt was deleted.")
    return png


def _prompt(folder: Path, call: Mapping[str, Any], participant: str, step: int, others: int) -> Prompt:
    request = call["request"]
    messages = tuple(
        ChatMessage(ChatRole(m["role"]), m["content"], pictures=tuple(_pictures(folder, m)))
        for m in request["messages"]
    )
    answer = AnswerFormat(request["answer"]["name"], request["answer"]["schema"]) if request["answer"] else None
    remark = f"the first of {others} such questions in step {step}; role= and turn= choose others" if others > 1 else ""
    return Prompt(participant, step, call.get("role", ""), tuple(call.get("turn", ())), messages, answer, remark)


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


def _last_before(episode: RecordedEpisode, step: int) -> Stamped:
    """Return the last event before the team begins to think in a step."""
    last = episode.trace.events[0]
    for stamped in episode.trace.events:
        if stamped.t >= step and isinstance(stamped.event, ThoughtStart | StepTaken):
            break
        last = stamped
    return last


def _view(episode: RecordedEpisode, world: World, agent: int, step: int) -> View:
    names = (*episode.trace.start.agents, *episode.trace.start.coordinators)
    story, now = episode.story, _last_before(episode, step)
    heard: list[tuple[int, Message]] = []
    unread: list[Message] = []
    for life in story.messages:
        if life.sent.seq > now.seq or agent not in (life.message.sender, *life.message.recipients):
            continue
        message = _message(life.sent, life.message)
        read = (s.seq for s in life.readings if cast(MessageRead, s.event).agent == agent and s.seq <= now.seq)
        seq = life.sent.seq if message.sender == agent else next(read, None)
        if seq is None:
            unread.append(message)
        else:
            heard.append((seq, message))
    memory = [message for _, message in sorted(heard, key=lambda one: one[0])]
    plans = [
        _plan_view(plan, world, now.seq)
        for plan in story.plans
        if plan.agent == agent and plan.committed.seq <= now.seq
    ]
    live = [plan for plan in plans if not plan.status.final]
    ended = [plan for plan in plans if plan.status.final]
    settings = LoopSettings()
    return View(
        agent=agent,
        name=names[agent],
        names=names,
        turn=Turn(agent, frozenset({Act.PLAN})),
        t=step,
        t_hat=now.t_hat,
        observation=world.observe(agent),
        unread=tuple(unread),
        memory=tuple(memory[-settings.memory_messages :]),
        plan=live[-1] if live else None,
        outcomes=tuple(ended[-settings.memory_plans :]),
    )


def _plan_view(plan: PlanLife, world: World, now: int) -> PlanView:
    """Return a plan as it was after the event with this number."""
    over = plan.end is not None and plan.end.seq <= now
    running = plan.started is not None and plan.started.seq <= now
    status = plan.status if over else PlanStatus.RUNNING if running else PlanStatus.COMMITTED
    assert status is not None
    actions = tuple(str(world.vocabulary.parse(action)) for action in plan.content.actions or ())
    task = Task(**plan.content.task) if plan.content.task is not None else None
    done = sum(one.status == "success" and one.end is not None and one.end.seq <= now for one in plan.actions)
    return PlanView(plan.id, task, actions, done, status, plan.reason if over else "")


def _message(stamped: Stamped, sent: MessageSent) -> Message:
    recipients = tuple(sent.recipients)
    kind = MessageKind(sent.what)
    return Message(
        sent.message, sent.sender, recipients, sent.content, kind, stamped.t, stamped.t_hat, sent.delivered_at
    )
