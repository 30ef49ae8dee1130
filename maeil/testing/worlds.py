"""The check of a world: episodes of drawn plans, held against every rule of `maeil.world.World`."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from pydantic import ValidationError

from maeil.acting import Primitive, acting_in
from maeil.actions import ActionStatus, SymbolicAction, Vocabulary
from maeil.drawing import Drawable
from maeil.errors import ContractError, InvalidThought
from maeil.outcomes import Outcome
from maeil.plans import Plan, Task
from maeil.tasks import TaskState
from maeil.testing import answers
from maeil.testing.answers import BrokenContract, Contract, Record, frame, look
from maeil.world import (
    Changeable,
    Controller,
    GivesArrays,
    TellsFacts,
    TellsOpenTasks,
    TellsTasks,
    Transition,
    World,
    require_world,
)

SPREAD = 4
"""Numbers are drawn from the smallest that the schema allows to this much above it."""

TRIES = 50
"""Values drawn for an action until one fits its validators."""

LONGEST = 3
"""Actions of a plan, at most."""


class ActionSampler:
    """Draws actions and plans.

    Args:
        vocabulary: the actions.
        examples: actions to choose from instead of drawing, for those whose values a schema does not tell.
    """

    def __init__(self, vocabulary: Vocabulary, examples: Sequence[SymbolicAction]) -> None:
        self._vocabulary = vocabulary
        self._schemas = {model: model.model_json_schema() for model in vocabulary}
        self._examples = {model: [action for action in examples if type(action) is model] for model in vocabulary}

    def plan(self, agent: int, rng: Random) -> Plan:
        """Draw a plan of one to three actions of an agent."""
        models = tuple(self._vocabulary.of(agent))
        return Plan(tuple(self.action(rng.choice(models), rng) for _ in range(rng.randint(1, LONGEST))))

    def action(self, model: type[SymbolicAction], rng: Random) -> SymbolicAction:
        """Draw an action.

        Raises:
            ValueError: its schema does not tell which values fit, and there is no example of it.
        """
        if examples := self._examples[model]:
            return rng.choice(examples)
        schema = self._schemas[model]
        for _ in range(TRIES):
            try:
                return model.model_validate(_draw(schema, schema.get("$defs", {}), rng))
            except ValidationError:
                continue
        name = model.model_fields["action"].default
        raise ValueError(f"no {name!r} can be drawn from its schema: give check_world some as `actions`")


def _draw(schema: Mapping[str, Any], definitions: Mapping[str, Any], rng: Random) -> Any:
    """Draw a value that fits a schema, as far as its ranges and choices tell."""
    match schema:
        case {"$ref": str(reference)}:
            return _draw(definitions[reference.rpartition("/")[2]], definitions, rng)
        case {"const": value}:
            return value
        case {"enum": values}:
            return rng.choice(values)
        case {"anyOf": options} | {"oneOf": options}:
            return _draw(rng.choice(options), definitions, rng)
        case {"type": "object", "properties": properties}:
            required = schema.get("required", ())
            chosen = [name for name in properties if name in required or rng.random() < 0.5]
            return {name: _draw(properties[name], definitions, rng) for name in chosen}
        case {"type": "array", "prefixItems": parts}:
            return [_draw(part, definitions, rng) for part in parts]
        case {"type": "array", "items": part}:
            return [_draw(part, definitions, rng) for _ in range(max(schema.get("minItems", 1), 1))]
        case {"type": "integer" | "number" as kind}:
            low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
            high = min(schema.get("maximum", low + SPREAD), low + SPREAD)
            return rng.randint(low, high) if kind == "integer" else rng.uniform(low, high)
        case {"type": "boolean"}:
            return rng.random() < 0.5
        case {"type": "string"}:
            return "text"
    return None


_NO_PART = "no such part"


def check_changes(contract: Contract, world: World, changes: Sequence[Mapping[str, Any]], seed: int) -> None:
    """Check what holds of changes; a world that cannot be changed passes where no examples are given.

    Args:
        contract: takes the rules.
        world: it is reset.
        changes: examples, each possible after a step of idling.
        seed: of the board.

    Raises:
        BrokenContract: a rule does not hold.
    """
    contract.place = f"world {world.name!r}, seed {seed}"
    if not isinstance(world, Changeable):
        contract.require(not changes, "a world for which there are changes has change()", f"{len(changes)} changes")
        return
    _begin(contract, world, seed)
    before = look(contract, world, 1)
    world.change({})
    contract.compare(before, look(contract, world, 1), "change() of nothing changes nothing")
    refused = False
    try:
        world.change({_NO_PART: 0})
    except ValueError as error:
        refused = _NO_PART in str(error)
    contract.require(refused, "change() refuses what it does not know with a ValueError that names it", _NO_PART)
    contract.compare(before, look(contract, world, 1), "a change that is refused changes nothing")
    for change in changes:
        contract.place = f"world {world.name!r}, seed {seed}, change {contract.json(change, 'a change')}"
        found = []
        for _ in range(2):
            _begin(contract, world, seed)
            world.change(change)
            found.append(look(contract, world, 1))
        contract.compare(found[0], found[1], "the same change in the same state gives the same state")
        world.change(change)
        contract.compare(found[0], look(contract, world, 1), "change() to what is so already changes nothing")
        _idle(contract, world)


def _begin(contract: Contract, world: World, seed: int) -> None:
    world.reset(seed)
    _idle(contract, world)


def _start_idling(contract: Contract, world: World) -> tuple[list[Controller], list[Primitive]]:
    """Have all agents that act begin to idle; return what runs, and their joint action."""
    joint: list[Primitive] = [None] * len(world.agents)
    controllers: list[Controller] = []
    for agent in answers.check_acting(contract, world):
        controller = _start(contract, world, agent, world.idle, controllers)
        end = controller.status()
        contract.require(end is None, IDLE_LASTS, f"{end} before its step")
        controllers.append(controller)
        joint[agent] = answers.check_primitive(contract, controller.act())
    return controllers, joint


def _start(
    contract: Contract, world: World, agent: int, action: SymbolicAction, running: Sequence[Controller | None]
) -> Controller:
    """Start an action, next to those that are running."""
    controller = world.start_action(agent, action)
    whole = all(callable(getattr(controller, name, None)) for name in ("status", "act", "close"))
    contract.require(whole, "start_action() returns a controller with status(), act() and close()", controller)
    own = all(controller is not other for other in running)
    contract.require(own, "start_action() returns a new controller each time", controller)
    return controller


def _constraints(
    contract: Contract, world: World, joint: list[Primitive], plans: Sequence[Plan | None]
) -> list[TaskState]:
    return answers.check_states(contract, world.constraints(joint, plans))


def _idle(contract: Contract, world: World) -> None:
    """Take a step in which all agents idle."""
    controllers, joint = _start_idling(contract, world)
    _constraints(contract, world, joint, [None] * len(joint))
    world.step(joint)
    for controller in controllers:
        contract.require(controller.status() is not None, IDLE_LASTS, "that it goes on after its step")
        controller.close()


PATIENCE = 3
"""Actions of an agent that may end in one state of the world before it is given its idle action."""

SAMPLES = 3
"""Actions drawn of each kind to be written as JSON and read back."""

ATTEMPTS = 5
"""Plans drawn for an agent until `check_plan` has nothing against one; then it idles."""

IDLE_LASTS = "idle can always begin, and lasts a step"

FRESH = "reset() depends on its seed alone, not on what was played before"

ASKING = "to observe, to measure and to draw changes nothing"


def check_world(
    world: World,
    *,
    actions: Sequence[SymbolicAction] = (),
    changes: Sequence[Mapping[str, Any]] = (),
    seeds: Sequence[int] = (0, 1),
    steps: int = 50,
) -> None:
    """Check that a world keeps its contract, in the spirit of PettingZoo's `parallel_api_test`.

    Plans are drawn from the schemas of the vocabulary and carried out as the loop does it. Each episode is run twice,
    with others in between, and once more by its joint actions alone, as a replay does.

    Args:
        world: any world; it is reset many times.
        actions: examples of the actions whose values a schema does not tell (the name of a place, say); the plans
            choose from them. Others are drawn.
        changes: examples for a world that can be changed from outside (`maeil.world.Changeable`), each possible after a
            step of idling, whatever the seed.
        seeds: of the boards.
        steps: of an episode, at most.

    Raises:
        BrokenContract: a rule does not hold; the message names the rule, the seed, the step, and what was found.
        ValueError: an action can neither be drawn nor chosen from examples.
    """
    contract = Contract(f"world {getattr(world, 'name', world)!r}")
    try:
        _check_names(contract, world)
        _check_episodes(contract, world, ActionSampler(world.vocabulary, actions), seeds, steps)
        for seed in seeds:
            check_changes(contract, world, changes, seed)
    except BrokenContract:
        raise
    except Exception as error:
        error.add_note(f"check_world was at {contract.place}")
        raise


def _check_episodes(contract: Contract, world: World, sampler: ActionSampler, seeds: Sequence[int], steps: int) -> None:
    _check_vocabulary(contract, world, sampler)
    facts = _facts(contract, world)
    episodes = []
    boards = _check_resets(contract, world, seeds)
    for seed, board in zip(seeds, boards, strict=True):
        _check_first_states(contract, world, seed)
        episodes.append(_Episode(contract, world, sampler, seed).play(steps))
        contract.compare(board, _reset(contract, world, seed), FRESH)
    for first in episodes:
        again = _Episode(contract, world, sampler, first.seed).play(steps)
        contract.place = f"world {world.name!r}, seed {first.seed}"
        contract.compare(first.record, again.record, "the same seed and plans give the same episode")
        frames, active = _replay(contract, world, first)
        contract.compare(first.frames, frames, "seed and joint actions alone give the episode back")
        rule = "constraints() returns a task when it becomes active, and with threshold 0 when it is over"
        contract.require(active == first.active, rule, f"{first.active} in turn, {active} when asked at the end alone")
    contract.compare(facts, _facts(contract, world), "prompt_facts() are those of the configuration, in every state")


def _check_names(contract: Contract, world: World) -> None:
    try:
        require_world(world)
    except ContractError as error:
        raise BrokenContract(contract.place, "a world has all that maeil.World asks for", str(error)) from None
    contract.require(isinstance(world.name, str) and world.name != "", "name is the name of the world", world.name)
    agents = world.agents
    named = isinstance(agents, tuple) and all(isinstance(name, str) and name for name in agents)
    contract.require(named and len(set(agents)) == len(agents) > 0, "agents is a tuple of different names", agents)


def _facts(contract: Contract, world: World) -> Record:
    """What `prompt_facts` returns, as JSON; nothing for a world without it."""
    if not isinstance(world, TellsFacts):
        return []
    return [("prompt_facts()", contract.json(world.prompt_facts(), "prompt_facts()"))]


def _check_vocabulary(contract: Contract, world: World, sampler: ActionSampler) -> None:
    for agent in range(len(world.agents)):
        own = world.vocabulary.of(agent)
        contract.require(world.idle in own, "idle is an action of the vocabulary of every agent", world.idle)
    rng = Random(0)
    drawn = [sampler.action(model, rng) for model in world.vocabulary for _ in range(SAMPLES)]
    for action in (world.idle, *drawn):
        try:
            read: object = world.vocabulary.parse(action.model_dump(mode="json"))
        except InvalidThought as error:
            read = error
        contract.require(read == action, "the vocabulary reads an action back from its JSON", f"{action!r} as {read!r}")


def _check_resets(contract: Contract, world: World, seeds: Sequence[int]) -> list[Record]:
    """Check that a reset depends on its seed alone, and return what it gives for each seed."""
    found = []
    for seed in (*seeds, *seeds):
        found.append(_reset(contract, world, seed))
        _idle(contract, world)
    for seed, before, after in zip(seeds, found, found[len(seeds) :], strict=False):
        contract.place = f"world {world.name!r}, seed {seed}"
        contract.compare(before, after, FRESH)
    return found[: len(seeds)]


def _reset(contract: Contract, world: World, seed: int) -> Record:
    """Begin an episode, and return all that can be seen then."""
    contract.place = f"world {world.name!r}, seed {seed}, step 0"
    board = contract.json(world.reset(seed), "the board")
    seen = look(contract, world, 0)
    contract.compare(seen, look(contract, world, 0), ASKING)
    return [("reset()", board), *seen]


def _check_first_states(contract: Contract, world: World, seed: int) -> None:
    """Check that the first call of `constraints` after a reset does not depend on those before it."""
    found = []
    for feedback in (False, False, True):
        contract.place = f"world {world.name!r}, seed {seed}"
        world.reset(seed)
        if feedback and isinstance(world, TellsOpenTasks):
            world.open_tasks([None] * len(world.agents))
        controllers, joint = _start_idling(contract, world)
        found.append(_constraints(contract, world, joint, [None] * len(joint)))
        for controller in controllers:
            controller.close()
    rule = "constraints() returns every active task at its first call after a reset"
    contract.require(found[0] == found[1], rule, f"{found[0]} after the first reset, {found[1]} after the second")
    rule = "open_tasks() does not change what constraints() returns"
    contract.require(found[0] == found[2], rule, f"{found[0]} without it, {found[2]} after it")


class _Episode:
    """An episode of drawn plans.

    Attributes:
        seed: of the board and of the plans.
        joints: the joint actions.
        live: the plan of each agent in the last step.
        active: the tasks that are active in the last step, by what `constraints` has reported.
        record: everything that the world has said.
        frames: what a replay has to give back.
    """

    def __init__(self, contract: Contract, world: World, sampler: ActionSampler, seed: int) -> None:
        self.seed = seed
        self.joints: list[list[Primitive]] = []
        self.live: list[Plan | None] = []
        self.active: set[Task] = set()
        self.record: Record = []
        self.frames: Record = []
        self._contract = contract
        self._world = world
        self._sampler = sampler
        self._rng = Random(seed)
        self._agents = range(len(world.agents))
        self._plans: list[deque[SymbolicAction]] = [deque() for _ in self._agents]
        self._live: list[Plan | None] = [None for _ in self._agents]
        self._running: list[Controller | None] = [None] * len(world.agents)
        self._idling: set[int] = set()
        self._active: dict[Task, TaskState] = {}
        self._goals: int | None = None

    def play(self, steps: int) -> _Episode:
        """Play the episode, to its end or for so many steps, and check all on the way."""
        contract, world = self._contract, self._world
        self._at(0)
        board = world.reset(self.seed)
        contract.require(isinstance(board, Mapping), "reset() returns the board as a record", board)
        self.frames.append(("reset()", contract.json(board, "the board")))
        self._goals = answers.check_progress(contract, world.progress()).goals
        self.frames += frame(contract, world, 0)
        for t in range(steps):
            self._at(t)
            self._ask()
            self._settle()
            joint = self._act()
            self._take_constraints(joint)
            self.joints.append(joint)
            seen = [board, world.global_observation(), *map(world.observe, self._agents)]
            before = [contract.json(value, "what was seen") for value in seen]
            transition = world.step(joint)
            self._at(t + 1)
            rule = "step() changes nothing that reset() or an observation has returned"
            for value, then in zip(seen, before, strict=True):
                now = contract.json(value, "what was seen")
                contract.require(now == then, rule, f"{then} has become {now}")
            written = answers.check_transition(contract, transition, len(self._agents), self._active)
            self.record.append((f"step {t}: step()", written))
            self.frames += _step(contract, t, joint, world, transition)
            if transition.end is Outcome.SUCCESS:
                progress = world.progress()
                finished = progress.reached == progress.goals
                contract.require(finished, "a world that ends as success has reached all its goals", progress)
            if transition.end:
                break
        self._close()
        self._look()
        frames = {value for what, value in self.frames if what.endswith("canvas()")}
        contract.require(len(frames) <= 1, "canvas() stays as it is until the next reset", sorted(frames)[:2])
        self.record += self.frames
        return self

    def _at(self, t: int) -> None:
        self._contract.place = f"world {self._world.name!r}, seed {self.seed}, step {t}"

    def _settle(self) -> None:
        """Start and end actions until nothing changes any more, as the loop does."""
        ended = [0 for _ in self._agents]
        changed = True
        while changed:
            changed = False
            acting = answers.check_acting(self._contract, self._world)
            for agent in acting:
                self._start(agent, tired=ended[agent] >= PATIENCE)
            for agent in acting:
                controller = self._running[agent]
                assert controller is not None
                end = controller.status()
                answers.check_end(self._contract, end)
                if end is not None:
                    self._contract.require(agent not in self._idling, IDLE_LASTS, f"{end} before its step")
                    self._end(agent, controller)
                    if end.status is not ActionStatus.SUCCESS:
                        self._plans[agent].clear()
                    ended[agent] += 1
                    changed = True

    def _start(self, agent: int, *, tired: bool) -> None:
        """Start the next action of an agent that has none."""
        if self._running[agent] is not None:
            return
        if tired:
            self._plans[agent].clear()
        elif not self._plans[agent]:
            self._live[agent] = plan = self._draw_plan(agent)
            self._plans[agent].extend(plan.actions)
        action = self._plans[agent].popleft() if self._plans[agent] else self._world.idle
        if action == self._world.idle:
            self._idling.add(agent)
        self._running[agent] = _start(self._contract, self._world, agent, action, self._running)
        self.record.append((f"{self._contract.place}: agent {agent}", str(action)))

    def _draw_plan(self, agent: int) -> Plan:
        for _ in range(ATTEMPTS):
            plan = self._sampler.plan(agent, self._rng)
            reasons = self._world.check_plan(agent, plan)
            answers.check_reasons(self._contract, reasons)
            again = self._world.check_plan(agent, plan)
            self._contract.require(reasons == again, "check_plan() answers the same twice", f"{reasons} and {again}")
            if not reasons:
                return plan
        return Plan((self._world.idle,))

    def _act(self) -> list[Primitive]:
        joint: list[Primitive] = [None for _ in self._agents]
        self._idling.clear()
        for agent in acting_in(self._world, len(self._agents)):
            controller = self._running[agent]
            assert controller is not None
            joint[agent] = answers.check_primitive(self._contract, controller.act())
        return joint

    def _ask(self) -> None:
        """Ask all that can be asked before a decision, and see that nothing changes by it."""
        contract, world = self._contract, self._world
        seen = self._look()
        contract.compare(seen, self._look(), ASKING)
        for agent in self._agents:
            reasons = world.check_plan(agent, Plan((world.idle,)))
            answers.check_reasons(contract, reasons)
            contract.require(reasons == (), "check_plan() never has anything against idle", reasons)
            world.check_plan(agent, self._sampler.plan(agent, Random(len(self.joints))))
            if isinstance(world, TellsTasks):
                self._check_tasks(world, agent)
            if isinstance(world, GivesArrays):
                self._check_arrays(world, agent)
        contract.compare(seen, self._look(), "check_plan() changes nothing")
        if isinstance(world, TellsOpenTasks):
            plans = [
                self._sampler.plan(agent, Random(len(self.joints) + agent)) if agent % 2 else None
                for agent in self._agents
            ]
            found = world.open_tasks(plans)
            tasks = answers.check_open_tasks(contract, found, len(self._agents))
            named = world.open_tasks([None] * len(plans), ", ".join(task.task.target for task in found))
            missed = {task.task for task in found} - {task.task for task in named}
            contract.require(not missed, "open_tasks() has the tasks whose targets a text names", missed)
            contract.compare(seen, self._look(), "open_tasks() changes nothing")
            seen.append((f"{contract.place}: open_tasks()", tasks))
        self.record += seen

    def _check_tasks(self, world: TellsTasks, agent: int) -> None:
        """See that plans can be for the first and the last task of each kind, and not for one that does not exist."""
        for task in answers.check_tasks(self._contract, world.tasks(agent)):
            reasons = self._world.check_plan(agent, Plan((self._world.idle,), task))
            self._contract.require(not reasons, "check_plan() takes a plan for each of tasks()", f"{task}: {reasons}")
        refused = self._world.check_plan(agent, Plan((self._world.idle,), Task("no", "such task")))
        self._contract.require(bool(refused), "check_plan() refuses a plan for a task that is not in tasks()", refused)

    def _check_arrays(self, world: GivesArrays, agent: int) -> None:
        """See that arrays have the sizes that they should have, and that what the mask allows can be planned."""
        observation, mask = world.arrays(agent)
        sizes = observation.size, mask.size
        self._contract.require(sizes == world.array_sizes(agent), "arrays() has the sizes of array_sizes()", sizes)
        if agent not in acting_in(self._world, len(self._agents)):
            return
        allowed = [index for index, value in enumerate(mask.tolist()) if value]
        self._contract.require(bool(allowed), "the mask of arrays() allows an action", mask)
        for index in allowed:
            reasons = self._world.check_plan(agent, Plan((world.action_of(agent, index),)))
            self._contract.require(not reasons, "check_plan() takes what action_of() returns", f"{index}: {reasons}")

    def _take_constraints(self, joint: list[Primitive]) -> None:
        """Take in what has changed of the tasks, and see that nothing else does by it."""
        contract, world = self._contract, self._world
        seen = self._look()
        states = _constraints(contract, world, joint, self._live)
        for state in states:
            answers.check_state(contract, state, len(self._agents), self._active)
            if state.threshold:
                self._active[state.task] = state
            else:
                del self._active[state.task]
        self.live, self.active = list(self._live), set(self._active)
        again = _constraints(contract, world, joint, self._live)
        contract.require(not again, "constraints() returns only tasks that have changed", again)
        contract.compare(seen, self._look(), "constraints() changes nothing in the world")
        self.record.append((f"{contract.place}: constraints()", contract.json(states, "constraints()")))

    def _look(self) -> Record:
        return look(self._contract, self._world, len(self.joints), self._goals)

    def _end(self, agent: int, controller: Controller) -> None:
        controller.close()
        self._running[agent] = None

    def _close(self) -> None:
        """Let all that still runs end with the episode: asked once more, and closed."""
        for agent, controller in enumerate(self._running):
            if controller is not None:
                answers.check_end(self._contract, controller.status())
                self._end(agent, controller)


def _replay(contract: Contract, world: World, episode: _Episode) -> tuple[Record, set[Task]]:
    """Return the frames of an episode that is run by its joint actions alone, and the tasks active in its last step."""
    states: list[TaskState] = []
    frames = [("reset()", contract.json(world.reset(episode.seed), "the board")), *frame(contract, world, 0)]
    for t, joint in enumerate(episode.joints):
        if t == len(episode.joints) - 1:
            states = _constraints(contract, world, joint, episode.live)
        frames += _step(contract, t, joint, world, world.step(joint))
    return frames, {state.task for state in states if state.threshold}


def _step(contract: Contract, t: int, joint: Sequence[Primitive], world: World, transition: Transition) -> Record:
    """Return what a step did, and how the world looks after it."""
    shown = contract.json([transition.reward, transition.rewards, transition.outcomes, transition.end], "step()")
    if isinstance(world, Drawable):
        names = [world.primitive_name(primitive) for primitive in joint if primitive is not None]
        named = all(isinstance(name, str) and name for name in names)
        contract.require(named, "primitive_name() names every primitive", names)
    return [(f"step {t}: step()", shown), *frame(contract, world, t + 1)]
