"""A rule-based negotiator for CUBE: it claims the block that it can reach soonest, and agrees on teams with the others.

It knows its team from messages: what others say, which agent wants which block, and how its plans ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cube_env import Face, SymbolicBlock, SymbolicObservation
from maeil.messages import Ask, Draft, Message, MessageKind
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan, PlanStatus, Task
from maeil.tasks import OpenTask
from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.cube.plans import BLOCK, CUBE, IN_VAIN, Wording, block_of, clear, delivery_of, seen, way
from quorum.agents.skills.speaker import LEADING, MEMBER
from quorum_base.names import fold_names

_CLAIM = re.compile(r"\bI take block_(\d{1,9})\b")
_ORDER = re.compile(r"\bagent_(\d{1,9}): block_(\d{1,9})\b")
_OBJECTION = re.compile(r"\bI cannot take block_(\d{1,9})\b")
_BRANCH = re.compile(r"\bI speak for ([\w., ]+)\.")
_RUN = re.compile(r"\bagent_(\d{1,9})(?:\.\.agent_(\d{1,9}))?\b")
_LONGEST_RUN = 10_000
"""Maximum number of agents in a range of names; no team is larger."""


def write_claim(block: int, steps: int) -> str:
    """Return the text that claims a block to work on."""
    return f"I take block_{block}, {steps} steps away."


def write_order(blocks: Mapping[int, int]) -> str:
    """Return the text that orders others to work on blocks."""
    return "; ".join(f"agent_{agent}: block_{block}" for agent, block in sorted(blocks.items())) + "."


def write_objection(block: int, reason: str) -> str:
    """Return the text that refuses a block."""
    return f"I cannot take block_{block}: {reason}."


def write_request(reason: str) -> str:
    """Return the text that asks for work."""
    return f"What shall I do? {reason}"


def write_branch(agents: Iterable[int]) -> str:
    """Return the text that lists the agents on whose behalf the sender also reports."""
    return f"I speak for {', '.join(fold_names([f'agent_{agent}' for agent in sorted(agents)]))}."


def read_claim(text: str) -> int | None:
    """Return the block that a message claims."""
    found = _CLAIM.search(text)
    return int(found[1]) if found else None


def read_order(text: str) -> dict[int, int]:
    """Return the ordered block of each agent."""
    return {int(agent): int(block) for agent, block in _ORDER.findall(text)}


def read_branch(text: str) -> frozenset[int]:
    """Return the agents that a message reports for, besides its sender."""
    found = _BRANCH.search(text)
    runs = [(int(first), int(last or first)) for first, last in _RUN.findall(found[1])] if found else []
    return frozenset(agent for first, last in runs if last - first < _LONGEST_RUN for agent in range(first, last + 1))


def read_objection(text: str) -> int | None:
    """Return the block that a message refuses."""
    found = _OBJECTION.search(text)
    return int(found[1]) if found else None


@dataclass(slots=True)
class Knowledge:
    """One participant's knowledge beyond its observation.

    Attributes:
        wishes: the block that each agent, including itself, is known to work on or to want.
        order: the block that the leader has ordered it to work on.
        failures: number of its failed plans for each block.
        refused: the block that each agent has objected to since the last orders.
        failed_at: environment step of the last counted failure.
        branches: agents that have asked for work in this environment step, each with the agents it reports for.
        passed: orders for others received in this environment step, by agent.
        heard_at: the environment step of `branches` and `passed`.
    """

    wishes: dict[int, int] = field(default_factory=dict)
    order: int | None = None
    failures: Counter[int] = field(default_factory=Counter)
    refused: dict[int, int] = field(default_factory=dict)
    failed_at: int = -1
    branches: dict[int, frozenset[int]] = field(default_factory=dict)
    passed: dict[int, int] = field(default_factory=dict)
    heard_at: int = -1

    def hear(self, message: Message, listener: int) -> None:
        """Process a message: claims, orders, objections, requests."""
        if message.t != self.heard_at:
            self.heard_at = message.t
            self.branches.clear()
            self.passed.clear()
        orders = read_order(message.content)
        claimed, refused = read_claim(message.content), read_objection(message.content)
        if claimed is not None:
            self.wishes[message.sender] = claimed
        if refused is not None:
            self.refused[message.sender] = refused
        if message.kind is MessageKind.REQUEST:
            self.branches[message.sender] = read_branch(message.content)
            for agent in (message.sender, *self.branches[message.sender]):
                self.wishes.pop(agent, None)
        self.wishes.update(orders)
        if message.sender != listener:
            self.passed.update(orders)
        self.order = orders.get(listener, self.order)

    def give_up(self, agent: int) -> None:
        """Drop the agent's own wish and order after an unsuccessful plan."""
        self.wishes.pop(agent, None)
        self.order = None

    def keep(self, observation: SymbolicObservation) -> None:
        """Forget blocks that are gone, and names that belong to no agent, because messages may contain any text."""
        blocks, agents = {block.id for block in observation.blocks}, range(len(observation.agents))
        self.wishes = {agent: block for agent, block in self.wishes.items() if block in blocks and agent in agents}
        if self.order not in blocks:
            self.order = None

    def learn(self, view: View, observation: SymbolicObservation) -> None:
        """Update the knowledge kept between turns."""
        for message in view.unread:
            self.hear(message, view.agent)
        self.keep(observation)
        if view.plan is None and view.outcomes and view.outcomes[-1].status is not PlanStatus.SUCCEEDED:
            block = block_of(view.outcomes[-1].task)
            if block is not None and self.failed_at != view.t:
                self.failed_at = view.t
                self.failures[block] += 1
                self.give_up(view.agent)


def recall(view: View, observation: SymbolicObservation) -> Knowledge:
    """Return the knowledge that a view alone provides, for speakers without state between turns.

    Messages that have left the memory are lost, and so are failures before the last plans. The position of an agent
    that no message mentions shows its work. Feedback shows which plans serve which task and overrides messages of
    earlier steps. What others request of this agent shows their wishes; their own statements override that.
    """
    known = Knowledge(wishes=seen(observation))
    failed = [block_of(plan.task) for plan in view.outcomes if plan.status in IN_VAIN]
    known.failures.update(block for block in failed if block is not None)
    for message in view.memory:
        if message.t < view.t:
            known.hear(message, view.agent)
    known.refused.clear()
    if tasks := deliveries(view):
        known.wishes = {agent: block for block, task in tasks.items() for agent in task.planned}
    if view.plan is not None and (block := block_of(view.plan.task)) is not None:
        known.wishes[view.agent] = block
        known.order = block if known.order is not None else None
    elif view.outcomes:
        known.give_up(view.agent)
    for agent, names in view.wanted.items():
        for found in filter(None, map(BLOCK.match, names)):
            known.wishes[agent] = int(found[1])
    for message in (*view.memory, *view.unread):
        if message.t == view.t:
            known.hear(message, view.agent)
    known.keep(observation)
    return known


def claimed_blocks(view: View) -> dict[int, int]:
    """Return the block that each agent last claimed, as far as the prompt still shows it."""
    known = Knowledge()
    for message in (*view.memory, *view.unread):
        known.hear(message, view.agent)
    return known.wishes


def deliveries(view: View) -> dict[int, OpenTask]:
    """Return the open tasks at left faces by block, if feedback lists the agents there."""
    found: dict[int, OpenTask] = {}
    for task in view.constraints:
        block = block_of(task.task)
        if block is not None and task.in_place is not None and task.task.target.endswith(f"/{Face.left.value}"):
            found[block] = task
    return found


@dataclass(frozen=True, slots=True)
class Demand:
    """A job that needs several agents.

    Attributes:
        id: its identifier.
        quorum: number of agents it needs.
        urgency: jobs with a smaller value come first.
        ways: each agent's distance from it, by index.
    """

    id: int
    quorum: int
    urgency: int
    ways: Sequence[float]


def form_teams(wishes: Mapping[int, int], jobs: Sequence[Demand]) -> dict[int, int]:
    """Form teams from wishes.

    Complete teams are kept: the nearest agents that wish for a job, up to its quorum. All other agents form a pool. The
    job that lacks the fewest agents is filled from it first, with agents that wish for it and then with the nearest, so
    at most one team stays incomplete. Remaining agents go to their nearest job.

    Args:
        wishes: the job that each participating agent wishes for.
        jobs: the jobs.

    Returns:
        The job of each agent of `wishes`; empty if there are no jobs. Equal arguments give equal teams, so all agents
        that know the same wishes agree.
    """
    if not jobs:
        return {}
    teams: dict[int, int] = {}
    open_jobs = []
    for job in sorted(jobs, key=lambda job: (job.urgency, job.id)):
        wishing = sorted((agent for agent in wishes if wishes[agent] == job.id), key=lambda a: (job.ways[a], a))
        if len(wishing) >= job.quorum:
            teams.update(dict.fromkeys(wishing[: job.quorum], job.id))
        else:
            open_jobs.append((job.quorum - len(wishing), job))
    pool = [agent for agent in sorted(wishes) if agent not in teams]
    for _, job in sorted(open_jobs, key=lambda entry: (entry[0], entry[1].urgency, entry[1].id)):
        pool.sort(key=lambda agent: (wishes[agent] != job.id, job.ways[agent], agent))
        teams.update(dict.fromkeys(pool[: job.quorum], job.id))
        pool = pool[job.quorum :]
    for agent in pool:
        teams[agent] = min(jobs, key=lambda job: (job.ways[agent], job.id)).id
    return teams


ORDERS = 64
"""Maximum number of orders in one message."""


@dataclass(eq=False)
class Negotiator:
    """The mind of one agent. It knows the others only from observations and messages.

    - It wishes for the block with a clear way that it can reach soonest; blocks on which its plans have failed come
    last.
    - Known wishes of others, and agents at a block's left face, count as wishes too. From all known wishes it forms
      teams by a shared convention (`form_teams`), and works on its assigned block.
    - It claims its block. A leader instead forms all teams and gives orders; a follower obeys, or objects if the block
      has no clear way; the leader then gives it another block.
    - In a tree of leaders it asks for work for its whole branch, and passes on its own leader's orders for the branch.
    - After an interruption it resumes its plan if the teams still assign it there, and replaces it otherwise.

    Attributes:
        chooser: makes the choices; a poor wish or order is any block with a clear way.
        patience: steps to wait for the rest of a team.
        known: its knowledge, including the initial knowledge.
        wording: vocabulary of its plans.
    """

    chooser: Chooser
    patience: int
    known: Knowledge = field(default_factory=Knowledge)
    wording: Wording = CUBE

    async def think(self, view: View) -> Thought:
        """Process the messages, then speak and decide as the turn allows."""
        observation = view.observation
        assert isinstance(observation, SymbolicObservation)
        self.known.learn(view, observation)
        return self.answer(view, observation)

    def answer(self, view: View, observation: SymbolicObservation) -> Thought:
        """Speak and decide as the turn allows, given the current knowledge."""
        messages: tuple[Draft, ...] = ()
        if view.turn.role:
            messages = self._lead(view, observation) if view.turn.role in LEADING else self._follow(view, observation)
        elif Act.SPEAK in view.turn.acts:
            messages = self._claim(view, observation)
        decision = self._decide(view, observation) if Act.PLAN in view.turn.acts else None
        return Thought(decision, messages)

    def _noisy(self, block: int, observation: SymbolicObservation) -> int:
        return self.chooser.any_of(clear(observation)).id if self.chooser.is_poor() else block

    def _place(self, view: View, observation: SymbolicObservation) -> SymbolicBlock:
        """Return the block to work on: as assigned by the teams of all known wishes, or its own wish if alone.

        The first choice in a step is subject to noise; later messages can still correct it.
        """
        fresh = view.agent not in self.known.wishes
        if fresh:
            least = min(self.known.failures[block.id] for block in clear(observation))
            untried = [block for block in clear(observation) if self.known.failures[block.id] == least]
            self.known.wishes[view.agent] = self.chooser.least(untried, lambda block: _steps(observation, block)).id
        wishes = {**seen(observation), **self.known.wishes}
        place = wishes[view.agent]
        if len(wishes) > 1:
            place = form_teams(wishes, demands(observation, {}, self.chooser.judge))[view.agent]
        if fresh:
            self.known.wishes[view.agent] = place = self._noisy(place, observation)
        return next(block for block in observation.blocks if block.id == place)

    def _claim(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Announce the agent's block, unless already announced."""
        before = self.known.wishes.get(view.agent)
        block = self._place(view, observation)
        if view.plan is not None and before == block.id:
            return ()
        self.known.wishes[view.agent] = block.id
        text = write_claim(block.id, _steps(observation, block))
        return (Draft(view.turn.recipients, text, MessageKind.PROPOSE, delivery_of(block), ()),)

    def _lead(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Order agents without a block, or that refuse their block, to where the teams need them.

        Feedback shows which plans serve which task, so with it the leader moves other agents as well: it forms
        incomplete teams again, and sends surplus agents of complete teams where some are lacking.
        """
        if Act.SPEAK not in view.turn.acts:
            return ()
        tasks = deliveries(view)
        jobs = demands(observation, tasks)
        possible = {job.id for job in jobs}
        for agent, block in self.known.refused.items():
            if self.known.wishes.get(agent) == block:
                del self.known.wishes[agent]
        self.known.refused.clear()
        commanded = {view.agent, *view.turn.recipients}.union(*map(self._branch, view.turn.recipients))
        everybody = sorted(commanded & set(range(len(observation.agents))))
        if view.agent in everybody and view.plan is None and self.known.order is None:
            self.known.wishes.pop(view.agent, None)
        wishes = self.known.wishes
        free = [agent for agent in everybody if wishes.get(agent) not in possible]
        nearest = {agent: self._nearest(jobs, agent) for agent in free}
        teams = form_teams({**nearest, **{a: b for a, b in wishes.items() if a not in nearest}}, jobs)
        moved = [agent for agent in everybody if tasks and teams[agent] != wishes.get(agent)]
        orders = {agent: self._noisy(teams[agent], observation) for agent in sorted({*free, *moved})}
        self.known.wishes.update(orders)
        self.known.order = orders.pop(view.agent, self.known.order)
        passed = {agent: self.known.passed[agent] for agent in everybody if agent in self.known.passed}
        return self._directives({**passed, **orders}, view)

    def _nearest(self, jobs: Sequence[Demand], agent: int) -> int:
        return self.chooser.least(jobs, lambda job: job.ways[agent]).id

    def _branch(self, member: int) -> frozenset[int]:
        """Return the agents that a member has reported for, besides itself."""
        return self.known.branches.get(member, frozenset())

    def _directives(self, orders: dict[int, int], view: View) -> tuple[Draft, ...]:
        """Send one message to members without members of their own, and each other member the orders for its branch."""
        orders.pop(view.agent, None)
        leaders = [member for member in view.turn.recipients if self._branch(member)]
        below = {agent for member in leaders for agent in (member, *self._branch(member))}
        found = []
        direct = {agent: block for agent, block in orders.items() if agent not in below}
        if direct:
            found.append(_order(tuple(direct), direct))
        for member in leaders:
            own = [(a, orders[a]) for a in sorted((member, *self._branch(member))) if a in orders]
            for start in range(0, len(own), ORDERS):
                found.append(_order((member,), dict(own[start : start + ORDERS])))
        return tuple(found)

    def _follow(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Ask for a block; or acknowledge an ordered block, or object to it."""
        if Act.SPEAK in view.turn.acts:
            last = view.outcomes[-1] if view.outcomes else None
            news = f"My plan for {last.task} {last.status.value} {last.reason}".strip() if last else "I have no plan"
            asked = write_request(f"{news}.")
            below = self.known.branches.items() if view.turn.role == MEMBER else ()
            if branch := {agent for member, others in below for agent in (member, *others)} - {view.agent}:
                asked = f"{asked} {write_branch(branch)}"
            return (Draft(view.turn.recipients, asked, MessageKind.REQUEST, asks=()),)
        if Act.ACKNOWLEDGE not in view.turn.acts or self.known.order is None:
            return ()
        block = next(block for block in observation.blocks if block.id == self.known.order)
        reason = _objection(block, deliveries(view).get(block.id), view.agent)
        if reason:
            self.known.order = None
            text = write_objection(block.id, reason)
        else:
            text = write_claim(block.id, _steps(observation, block))
        return (Draft(view.turn.recipients, text, MessageKind.ACK, delivery_of(block) if not reason else None, ()),)

    def _decide(self, view: View, observation: SymbolicObservation) -> Plan | Resume:
        """Obey, or go where the teams assign this agent; resume a plan that already leads there."""
        if self.known.order is not None:
            block = next(block for block in observation.blocks if block.id == self.known.order)
            reason = "the leader told me to"
        else:
            block = self._place(view, observation)
            reason = "by what I know of the others it is where I am needed"
        self.known.wishes[view.agent] = block.id
        plan = self.wording.delivery(block, reason, self.patience)
        if view.plan is not None and view.plan.task == plan.task:
            return Resume.RESUME
        return plan


def _order(recipients: tuple[int, ...], blocks: Mapping[int, int]) -> Draft:
    """Order agents to blocks; the recipients pass on orders for others."""
    asks = tuple(Ask(agent, Task("deliver", f"block_{block}")) for agent, block in sorted(blocks.items()))
    return Draft(recipients, write_order(blocks), MessageKind.DIRECTIVE, asks=asks)


def _objection(block: SymbolicBlock, task: OpenTask | None, agent: int) -> str:
    """Return why an agent objects to a block, by feedback if available, else by what it sees; empty: no objection."""
    ahead = [f"block_{one}" for one in block.ahead] if task is None else list(filter(BLOCK.match, task.before))
    if ahead:
        return f"{ahead[0]} is ahead of it"
    if task is not None and len({*(task.in_place or ()), *task.planned} - {agent}) >= task.needs:
        return "others are enough there"
    return ""


def _steps(observation: SymbolicObservation, block: SymbolicBlock) -> int:
    assert observation.cell is not None
    return way(observation.cell, block)


def demands(
    observation: SymbolicObservation, tasks: Mapping[int, OpenTask], judge: Callable[[float], float] = float
) -> list[Demand]:
    """Return the blocks with a clear way as jobs.

    With feedback, a job needs as many agents as the next push. It is more urgent if some agents already stand there,
    and if other agents are planned for a block behind it.

    Args:
        observation: the board.
        tasks: feedback about left faces, by block; empty without it.
        judge: returns the judged steps to a block.
    """
    awaited = {name for task in tasks.values() if task.planned for name in task.before}
    started = {block for block, task in tasks.items() if task.in_place}
    return [
        Demand(
            block.id,
            tasks[block.id].needs if block.id in tasks else block.weight,
            block.distance - observation.side * ((f"block_{block.id}" in awaited) + (block.id in started)),
            [judge(way(cell, block)) for cell in observation.agents],
        )
        for block in clear(observation)
    ]
