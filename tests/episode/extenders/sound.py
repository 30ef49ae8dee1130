"""A plug-in of each kind that does nothing wrong, as small as it can be; the mistakes of the tests are made in them."""

from __future__ import annotations

MIND = """\
from typing import Literal

from maeil import Component, ComponentConfig, Plan, Thought
from pit import Rest
from quorum.configuration.registry import minds


class MineConfig(ComponentConfig):
    name: Literal["mine"]


class Mine:
    async def think(self, view):
        return Thought(Plan((Rest(),)))


def build(config, context):
    return [Mine() for _ in context.world.agents]


minds.register("mine", Component(MineConfig, build))
"""
WORLD = """\
from dataclasses import dataclass
from typing import Literal

from maeil import Component, ComponentConfig, Progress, SymbolicAction, Transition, Vocabulary, World
from maeil.acting import end_of
from maeil.controllers import Repeat
from quorum_base.drawing import Canvas, Drawing, Mark, MarkKind
from quorum.configuration.registry import worlds


class PitConfig(ComponentConfig):
    name: Literal["pit"]
    n: int
    max_steps: int


class Rest(SymbolicAction):
    action: Literal["rest"] = "rest"


@dataclass(frozen=True)
class Sight:
    t: int

    def text(self):
        return f"step {self.t}"


class Pit(World):
    name = "pit"
    vocabulary = Vocabulary(Rest)
    idle = Rest()

    def __init__(self, config):
        self.max_steps = config.max_steps
        self.agents = tuple(f"digger_{i}" for i in range(config.n))

    def reset(self, seed):
        self.t = 0
        return {"depth": 1}

    def observe(self, agent):
        return Sight(self.t)

    def global_observation(self):
        return Sight(self.t)

    def check_plan(self, agent, plan):
        return ()

    def start_action(self, agent, action):
        return Repeat(0, 1)

    def step(self, joint):
        self.t += 1
        return Transition((), 0.0, end_of(success=False, truncated=self.t >= self.max_steps))

    def constraints(self, joint, plans):
        return ()

    def distance(self, agent, other):
        return None

    def progress(self):
        return Progress(0, 1, 0.0)

    def ansi(self):
        return "pit"

    def canvas(self):
        return Canvas(1, 1, (MarkKind("digger", "#3b6ea5", "#7fb2e5"),))

    def draw(self):
        return Drawing(b"", {name: Mark(0, 0, 0, agent=i) for i, name in enumerate(self.agents)})

    def primitive_name(self, primitive):
        return "rest"


worlds.register("pit", Component(PitConfig, lambda config, context: Pit(config)))
"""
TOPOLOGY = """\
from typing import Literal

from maeil import Act, Component, ComponentConfig, Topology, Turn
from quorum.configuration.registry import topologies


class RoundConfig(ComponentConfig):
    name: Literal["round"]


class Round(Topology):
    name = "round"

    def turns(self, conversation):
        if not conversation.quiet:
            return []
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided[:1]]


def build(config, context):
    return Round()


topologies.register("round", Component(RoundConfig, build))
"""
SKILLS = """\
from maeil import Plan
from pit import Rest
from quorum.agents.skills import CommandedMind, WorldSkills, skills


class PitSkills(WorldSkills):
    def heuristic(self, world):
        return [CommandedMind(rule) for _ in world.agents]


def rule(view):
    return Plan((Rest(),))


skills.register("pit", PitSkills("pit"))
"""
METRIC = '''\
from maeil.metrics import metric
from maeil.trace.events import MessageSent


@metric("talk.own")
def own(trace):
    """Messages."""
    return len(trace.of(MessageSent))
'''
PROVIDER = """\
from typing import Literal

from maeil import Component
from quorum.agents.llm.protocol import Finish, Reply, Usage
from quorum.agents.llm.provided import ProvidedModel
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.registry import providers


class OwnConfig(ProviderConfig):
    name: Literal["own"]


class OwnModel(ProvidedModel):
    async def complete(self, request):
        return Reply("{}", Finish.STOP, Usage(prompt=1, completion=1), 0.0, 0.0, "own")


providers.register("own", Component(OwnConfig, lambda config, context: OwnModel()))
"""
FILES = {
    "mine.py": MIND,
    "pit.py": WORLD,
    "round.py": TOPOLOGY,
    "pit_skills.py": SKILLS,
    "own_metric.py": METRIC,
    "own.py": PROVIDER,
    "configs/env/pit.yaml": "# A pit.\nname: pit\nn: ${n}  # agents\nmax_steps: ${max_steps}  # cut-off\n",
    "configs/agents/mine.yaml": "# Mine.\nname: mine\n",
    "configs/topology/round.yaml": "# Round.\nname: round\n",
    "configs/llm/own.yaml": "# Own.\ndefaults:\n  - shared/calls@_here_\n  - _self_\n\nname: own\ncache: false\n",
}
"""The modules and the values of all of them, by file."""
