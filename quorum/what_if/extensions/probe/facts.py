"""The facts that a belief probe asks about, with the right answers, and how many messages each has travelled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from maeil.mind import Observation
from maeil.plans import PlanStatus
from maeil.trace.events import MessageSent, MessagesRead, PlanChange, Stamped
from maeil.world import World
from quorum.what_if.failures.history import TextReader

UNKNOWN = "unknown"
"""The choice of an agent that does not know the answer."""
NOTHING = "nothing"
"""The choice for a plan without a task."""
OPEN, DONE = "open", "done"
MOST_FACTS = 4
"""Maximum number of questions about the states of tasks, and of questions about the places of things."""
MOST_MATES = 6
"""Maximum number of teammates in questions about plans and messages."""
MOST_CHOICES = 12
"""Maximum number of things among the choices, unless more are right for some teammate."""


@dataclass(frozen=True, slots=True)
class ProbeSkills:
    """The skills of a world for its facts: their roles `places` and `stands`.

    Attributes:
        places: returns the place of each thing that an observation shows, as shares of the rows and columns (see
            `region`).
        stands: returns whether a thing is still there to work on; None if that is undefined, which skips the question.
            Default without the role: whether the world lists a task about it.
    """

    places: Callable[[Observation], Mapping[str, tuple[float, float]]] = lambda _: {}
    stands: Callable[[World, str], bool | None] = lambda world, thing: thing in tasks_of(world)


@dataclass(frozen=True, slots=True)
class Fact:
    """A question with closed choices and its right answer.

    Attributes:
        kind: `state`, `place`, `plan` or `message`, as in `quorum.what_if.extensions.probe.events.Belief`.
        about: the thing, or the name of the teammate.
        truth: the right choice.
        choices: all choices but `UNKNOWN`.
        thing: the thing that a message must name to carry the fact.
        source: index of the agent from whom the fact comes; None if any agent that names the thing first may have seen
            it.
        since: id of the first message that can carry it.
    """

    kind: str
    about: str
    truth: str
    choices: tuple[str, ...]
    thing: str
    source: int | None = None
    since: int = 0

    def shown(self) -> dict[str, object]:
        """Return its content for a prompt, JSON-ready."""
        return {"fact": self.kind, "about": self.about, "choices": [*self.choices, UNKNOWN]}


def thing_of(target: str) -> str:
    """Return the thing in the target of a task: `block_3` of `block_3/left`."""
    return target.partition("/")[0]


@dataclass
class Talk:
    """The messages so far, and the tasks of plans.

    Attributes:
        names: names of all participants by index.
        events: messages sent and read, in order.
        things: things of plans, the latest last.
        works: the thing of each agent's latest plan, among those that it committed itself.
        announced: id of the first message of the step in which it committed that plan.
    """

    names: Sequence[str]
    events: list[MessageSent | MessagesRead] = field(default_factory=list)
    things: dict[str, None] = field(default_factory=dict)
    works: dict[int, str] = field(default_factory=dict)
    announced: dict[int, int] = field(default_factory=dict)
    _sent: int = 0
    _first: dict[int, int] = field(default_factory=dict)

    def take(self, stamped: Stamped) -> None:
        """Process an event of the episode."""
        event = stamped.event
        if isinstance(event, MessageSent):
            self._first.setdefault(stamped.t, event.message)
            self._sent = event.message + 1
        if isinstance(event, MessageSent | MessagesRead):
            self.events.append(event)
        elif isinstance(event, PlanChange) and event.status == PlanStatus.COMMITTED and not event.flag:
            self.announced[event.agent] = self._first.get(stamped.t, self._sent)
            self.works[event.agent] = thing = thing_of(event.task["target"]) if event.task is not None else NOTHING
            if event.task is not None:
                self.things.pop(thing, None)
                self.things[thing] = None

    def hops(self, fact: Fact) -> dict[int, int]:
        """Return how many messages a fact travelled to each agent that it reached; 0 for the agent it comes from.

        A message carries the fact if it names its thing and comes from the source, or from an agent that the fact had
        reached and that also names the source.
        """
        reader = TextReader((fact.thing,), self.names)
        reached: dict[int, int] = {} if fact.source is None else {fact.source: 0}
        carried: dict[int, int] = {}
        for event in self.events:
            if isinstance(event, MessagesRead):
                hops = [carried[message] for message in event.messages if message in carried]
                if hops:
                    reached[event.agent] = min(reached.get(event.agent, hops[0]), *hops)
            elif event.message >= fact.since and reader.named(event.content):
                if fact.source is None:
                    reached.setdefault(event.sender, 0)
                elif event.sender != fact.source and not reader.mentions(event.content, fact.source):
                    continue
                if event.sender in reached:
                    carried[event.message] = reached[event.sender] + 1
        return reached


def tasks_of(world: World) -> list[str]:
    """Return the things of the current tasks, each once; empty if the world does not list its tasks."""
    found = world.tasks(None) or {}
    return list(dict.fromkeys(thing_of(target) for targets in found.values() for target in targets))


def facts_of(world: World, talk: Talk, skills: ProbeSkills, things: Sequence[str]) -> list[Fact]:
    """Return the facts of this instant.

    Args:
        world: in its current state.
        talk: the messages so far.
        skills: skills of the world.
        things: things of the tasks at the start of the episode.
    """
    now = tasks_of(world)
    latest = [*reversed(talk.things), *(thing for thing in things if thing not in talk.things)]
    states = {thing: there for thing in latest[:MOST_CHOICES] if (there := skills.stands(world, thing)) is not None}
    done = [thing for thing, there in states.items() if not there][: MOST_FACTS // 2]
    some = [*done, *[thing for thing, there in states.items() if there][: MOST_FACTS - len(done)]]
    found = [Fact("state", thing, OPEN if states[thing] else DONE, (OPEN, DONE), thing) for thing in some]

    where = {thing: region(*share) for thing, share in skills.places(world.global_observation()).items()}
    asked = [*(thing for thing in latest if thing in where), *(thing for thing in where if thing not in latest)]
    found += [Fact("place", thing, where[thing], REGIONS, thing) for thing in asked[:MOST_FACTS]]

    named = _named(talk, [*dict.fromkeys((*latest, *now))])
    mates = list(range(len(world.agents)))[: MOST_MATES + 1]
    plans = {mate: talk.works[mate] for mate in mates if mate in talk.works}
    choices = _choices((NOTHING, *plans.values()), latest, now)
    found += [
        Fact("plan", talk.names[mate], thing, choices, thing, mate, talk.announced[mate])
        for mate, thing in plans.items()
    ]
    said = {mate: named[mate] for mate in mates if mate in named}
    choices = _choices((thing for thing, _ in said.values()), latest, now)
    found += [
        Fact("message", talk.names[mate], thing, choices, thing, mate, message)
        for mate, (thing, message) in said.items()
    ]
    return found


def _named(talk: Talk, things: Sequence[str]) -> dict[int, tuple[str, int]]:
    """Return the thing that each agent named last, with the id of the message, unless that message names several."""
    found = {}
    for message in talk.events:
        if isinstance(message, MessageSent) and (named := named_in(message.content, things)):
            found[message.sender] = (named, message.message)
    return {agent: (named[0], message) for agent, (named, message) in found.items() if len(named) == 1}


def named_in(text: str, things: Collection[str]) -> list[str]:
    """Return the things that a text names, in any spelling; `tree_17` does not name `tree`."""
    named = TextReader(things, ()).named(text)
    return [name for name in named if not any(other.startswith(f"{name}_") for other in named)]


def _choices(right: Iterable[str], *others: Sequence[str]) -> tuple[str, ...]:
    """Return choices in an order that does not reveal the right ones."""
    found = dict.fromkeys(right)
    more = (thing for group in others for thing in group if thing not in found)
    return tuple(sorted({*found, *islice(dict.fromkeys(more), max(0, MOST_CHOICES - len(found)))}))


REGIONS = tuple(
    f"{vertical}-{horizontal}".replace("centre-centre", "centre").replace("-centre", "").replace("centre-", "")
    for vertical in ("north", "centre", "south")
    for horizontal in ("west", "centre", "east")
)
"""The parts of a board, in compass directions: thirds of its rows and columns; row 0 is in the north."""


def region(down: float, across: float) -> str:
    """Return the part of a board at the given shares of its rows and columns: 0 is north, and west."""
    return REGIONS[3 * min(2, int(3 * down)) + min(2, int(3 * across))]
