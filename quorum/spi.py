'''The contracts of Quorum: what you implement to extend it, on one page.

| contract | it is | chosen by | entry points |
|---|---|---|---|
| `World` | an environment joined to the loop | `env=NAME` | `quorum.worlds` |
| `Mind` | decides for one participant | `agents=NAME` | `quorum.minds` |
| `Topology` | says whose turn it is, and who may write to whom | `topology=NAME` | `quorum.topologies` |
| `Extension` | a method that takes part in the loop | `extension=NAME` | `quorum.extensions` |
| `Provider` | a language model behind a service | `llm=NAME` | `quorum.providers` |
| `Engine` | runs the cells of a sweep somewhere | `engine=NAME` | `quorum.engines` |
| `Courier` | delivers the requests of an engine's workers, such as in batches | by its engine | - |
| `Verb` | a verb of the command | `quorum NAME` | `quorum.verbs` |
| `Start` | how an episode starts: at the beginning, or after a recorded prefix | whoever plays it | - |
| `Origin` | what a cell goes back to, such as a run that it continues | whoever plans it | `quorum.origins` |

An implementation is offered as a `Component`, under a name: by an entry point of your package, or by a module that
`--plugin` names and that calls `register`. Methods with a body are optional. `quorum new` writes a package of each
kind that is complete and passes its test. The examples below are one program, which a test runs.

**Component.** Joins a schema of values to the function that builds from them. Fields have no defaults: the values are
in a YAML file of the same name, such as `configs/env/count.yaml`.

    class CountConfig(ComponentConfig):
        name: Literal["count"]
        n: int
        goal: int

**World.** Holds the rules: it draws a board from a seed, shows it, starts symbolic actions, and steps. Agents are
indices. Guide: docs/writing-a-world.md.

    class Add(SymbolicAction):
        """Add one to the total."""

        action: Literal["add"] = "add"

    class Wait(SymbolicAction):
        """Do nothing."""

        action: Literal["wait"] = "wait"

    @dataclass(frozen=True)
    class Total:
        total: int

        def text(self):
            return f"the total is {self.total}"

    class Count(World):
        name, vocabulary, idle = "count", Vocabulary(Add, Wait), Wait()

        def __init__(self, config, _context=None):
            self.agents = tuple(f"agent_{i}" for i in range(config.n))
            self.goal, self.total = config.goal, 0

        def reset(self, seed):
            self.total = 0
            return {"goal": self.goal}

        def observe(self, agent):
            return Total(self.total)

        def global_observation(self):
            return Total(self.total)

        def check_plan(self, agent, plan):
            return () if plan.task is None else ("there are no tasks",)

        def start_action(self, agent, action):
            return Repeat(int(isinstance(action, Add)), ticks=1)

        def step(self, joint):
            self.total += sum(joint)
            return Transition((), reward=0.0, end=end_of(success=self.total >= self.goal))

        def constraints(self, joint, plans):
            return ()

        def distance(self, agent, other):
            return None

        def progress(self):
            return Progress(min(self.total, self.goal), self.goal, float(self.total))

        def ansi(self):
            return f"{self.total} of {self.goal}"

    worlds.register("count", Component(CountConfig, Count))

**Mind.** Answers a turn with a plan, messages, or both. It sees its view and nothing else. Guide:
docs/writing-a-mind.md.

    class Eager:
        async def think(self, view):
            return Thought(Plan((Add(),)))

    class EagerConfig(ComponentConfig):
        name: Literal["eager"]

    def eager(config, context):
        return [Eager() for _ in context.world.agents]

    minds.register("eager", Component(EagerConfig, eager))

**Topology.** Returns the turns that begin now, as a pure function of the state of the conversation. Guide:
docs/writing-a-topology.md.

    class InOrder(Topology):
        name = "in_order"

        def turns(self, conversation):
            first = conversation.undecided[:1] if conversation.quiet else ()
            return [Turn(agent, frozenset({Act.PLAN})) for agent in first]

    class InOrderConfig(ComponentConfig):
        name: Literal["in_order"]

    topologies.register("in_order", Component(InOrderConfig, lambda config, context: InOrder()))

**Extension.** Hooks into an episode: before a thought, when an answer arrives, when plans are committed, after a step.
Every hook does nothing unless you override it. Guide: docs/writing-an-extension.md.

    class Steps(Extension):
        name = "steps"

        def begin(self, episode):
            super().begin(episode)
            self.count = 0

        def after_step(self):
            self.count += 1

**Provider.** Answers a request of a language model. It tries once; retries, limits, cache and budget are wrappers that
every provider gets. Guide: docs/writing-a-mind.md, "A provider of your own".

    class Parrot(Provider):
        async def complete(self, request):
            return Reply(request.messages[-1].content, Finish.STOP, Usage(1, 1), 0.0, 0.0, "parrot")

**Engine.** Takes shards of cells from the queue of a sweep, has a worker run them, and reports. What is done is in the
folders of the cells, never in the engine. Guide: docs/sweeps.md, "Engines".

    class Here(Engine):
        def width(self, *, uses_models):
            return 1

        def run(self, work, job):
            asyncio.run(self.play(work, job))

        async def play(self, work, job):
            worker = Worker(job, 1, work.report)
            while (shard := work.take(1, idle=True)) is not None:
                await worker.run_all(shard.cells)
            await worker.close()

    class HereConfig(ComponentConfig):
        name: Literal["here"]

    engines.register("here", Component(HereConfig, lambda config, context: Here()))

**Courier.** An engine with a courier sends no request by itself. The courier refuses cells that it cannot deliver,
opens a `Delivery` in each worker, which takes the provider's place, and cancels what is open at a service.
`quorum.more_providers.batches.engine` is the one that Quorum has.

    class Counting(Delivery):
        asked = 0

        def model(self, provider, key, cell, price):
            self.asked += 1
            return provider

        def episode(self, cell):
            return nullcontext()

        def facts(self):
            return (f"{self.asked} models",)

        async def close(self):
            pass

**Verb.** A function whose signature and docstring Typer turns into a command. Guide: docs/writing-a-verb.md.

    def longest(folder: Path, runs: int = 3):
        """Show the runs that took the most steps."""

    verb = Verb(longest, "Look")

**Start.** Whatever plays an episode takes a start and knows no subclass. Each method gets what an episode from the
beginning has, and returns what this one has. `quorum.what_if.branch` has the start of branches.

    class Watched(Start):
        def extensions(self, cell, parts):
            return (Steps(), *parts.extensions)

**Origin.** It names its cells, labels their folders, and gives their rows columns. Everything follows from recorded
values, so that results can be read without the run.

    @dataclass(frozen=True)
    class Recall(Origin):
        run: str
        memory: str

        identity = property(lambda self: {"memory": self.memory})
        label = "recall"
        factors = property(lambda self: {"parent": self.run, "change": "memory", "draw": 0})
        beginning = property(lambda self: (self.memory,))

        def unchanged(self):
            return replace(self, memory="")

        def to_json(self):
            return {"kind": "recall", "run": self.run, "memory": self.memory}

        @classmethod
        def read(cls, plain):
            return cls(str(plain["run"]), str(plain["memory"]))
'''

from maeil.component import Component, ComponentConfig
from maeil.extension import Extension
from maeil.mind import Mind
from maeil.topology import Topology
from maeil.world import World
from quorum.agents.llm.delivery import Delivery
from quorum.agents.llm.provided import ProvidedModel as Provider
from quorum.configuration.origin import Origin
from quorum.episode.start import Start
from quorum.sweeps.engines.protocol import Courier, Engine
from quorum.verbs.verb import Verb

__all__ = [
    "Component",
    "ComponentConfig",
    "Courier",
    "Delivery",
    "Engine",
    "Extension",
    "Mind",
    "Origin",
    "Provider",
    "Start",
    "Topology",
    "Verb",
    "World",
]
