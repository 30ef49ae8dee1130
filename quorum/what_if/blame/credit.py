"""The worth of agents and messages of a recorded run: what the team loses without them.

There are three credits.

`agent`: the agent idles, and all others act as recorded. This is the difference reward D_i(t) = G(run) - G(the run in
which agent i idles from step t on): the wonderful life utility of Wolpert and Tumer, "Optimal payoff functions for
members of collectives" (Advances in Complex Systems 4, 2001), with idling as the null action; Agogino and Tumer,
"Analyzing and visualizing multiagent rewards in dynamic and stochastic domains" (JAAMAS 17, 2008), call it the
difference reward. The joint actions of the others come from the trace, so no mind thinks. In a world without luck the
value is exact; with shared luck, only draws that the agent's absence affects differ.

`live`: the agent idles, and all other minds think again.

`message`: the message is not delivered, and all minds think again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import fsum
from operator import attrgetter
from pathlib import Path
from typing import Any

from maeil import Primitive, World
from maeil.errors import ChangeRefused
from maeil.metrics import Value, compute_on_demand
from maeil.outcomes import Outcome
from maeil.trace import Instant
from maeil.trace.events import Event, MessageSent, StepTaken
from maeil.world import keeps_luck_apart
from quorum.agents.llm.spending import Spent
from quorum.display.sanitize import sanitize
from quorum.episode.substitute import estimated
from quorum.runs.derived import Records, break_down, recompute, write_metrics
from quorum.runs.recorded_episode import RecordedEpisode, open_episode
from quorum.storage.locks import one_at_work
from quorum.storage.outputs import require_writable
from quorum.what_if.blame.attempts import Attempts, Budget, BudgetSpent, Journal
from quorum.what_if.blame.ending import FINISHED, Ending, ending_of
from quorum.what_if.blame.reference import Reference
from quorum.what_if.blame.reruns import Correction, Reruns
from quorum.what_if.blame.search import expected_spending
from quorum.what_if.branch.parent import Parent
from quorum.what_if.extensions.change import WorldChange
from quorum.what_if.extensions.luck.events import WorldLuck
from quorum.what_if.metrics.credit import Differences, LiveDifferences, MessageValues, Utility
from quorum_base.inside import make_inside
from quorum_base.user_errors import UserError, choices_hint

Joint = Sequence[Primitive]
"""A primitive action for each agent."""


class Kind(StrEnum):
    """The credits."""

    AGENT = "agent"
    LIVE = "live"
    MESSAGE = "message"

    @property
    def per(self) -> str:
        """Whether a row of its table is an agent or a message."""
        return "message" if self is Kind.MESSAGE else "agent"


def kinds_of(names: Iterable[str]) -> list[Kind]:
    """Return the credits of these names, each once.

    Raises:
        UserError: there is no such credit.
    """
    known = [str(kind) for kind in Kind]
    for name in names:
        if name not in known:
            raise UserError(f"--of {name}: there is no such credit", choices_hint(name, "They are", known))
    return [kind for kind in Kind if kind in set(names)]


@dataclass(slots=True)
class Bill:
    """The cost of the credits of several runs.

    Attributes:
        budget: limits of paid models; required if the team uses any.
        stands_in: whether the simulated model replaces paid models, at their prices: an estimate.
        spent: cost of the re-runs so far, including those of earlier commands.
        reruns: number of episodes so far.
    """

    budget: Budget = Budget()  # noqa: RUF009 (frozen)
    stands_in: bool = False
    spent: Spent = field(default_factory=Spent)
    reruns: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return an estimate as JSON-ready data."""
        return {"reruns": self.reruns, **estimated(self.spent)}


@dataclass(slots=True)
class Credits:
    """The credits of one run.

    Attributes:
        run: its folder.
        metrics: metrics of the group `credit`.
        rows: for `agent` and `message`, the worth by name of the agent or number of the message.
    """

    run: Path
    metrics: dict[str, Value] = field(default_factory=dict)
    rows: dict[str, dict[str | int, Mapping[str, Value]]] = field(default_factory=dict)

    def add(self, per: str, column: str, worth: Mapping[Any, Utility]) -> None:
        """Add columns to the rows: the value in each of the three utilities."""
        rows = self.rows.setdefault(per, {})
        for name, utility in worth.items():
            values = {
                column: utility.returned,
                f"{column}_reached": utility.reached,
                f"{column}_score": utility.score,
            }
            rows[name] = {**rows.get(name, {}), **values}

    def table(self, per: str) -> Records:
        """Return the table of agents or messages with their credits; None for a participant without a body.

        Raises:
            UserError: the trace cannot be read.
        """
        own = self.rows.get(per, {})
        names = list(dict.fromkeys(name for values in own.values() for name in values))
        return [{**row, **dict.fromkeys(names), **own.get(row[per], {})} for row in break_down(self.run, per)]

    def to_json(self) -> dict[str, Any]:
        """Return the metrics and the tables as JSON-ready data."""
        return {"run": str(self.run), "metrics": self.metrics, **{per: self.table(per) for per in self.rows}}


def credits_of(
    run: Path,
    kinds: Collection[Kind],
    start: int = 0,
    report: Callable[[str], None] = lambda _: None,
    bill: Bill | None = None,
) -> Credits:
    """Compute the credits of a run.

    Args:
        run: its folder.
        kinds: the credits.
        start: the step from which an agent idles, for `Kind.AGENT`.
        report: called with the number of re-runs before they start.
        bill: limits of paid models; their cost is added to it.

    Raises:
        UserError: there is no such run, it cannot be replayed, its world draws from one random stream, or its team
            needs a paid model again and the budget does not allow that.
    """
    found = Credits(run)
    if Kind.AGENT in kinds:
        episode = open_episode(run)
        differences = difference_rewards(episode, start)
        found.metrics |= compute_on_demand(Differences(differences))
        found.add("agent", "difference", dict(zip(episode.trace.start.agents, differences, strict=True)))
    if set(kinds) - {Kind.AGENT}:
        bill = bill or Bill()
        again = Continuations(Parent.open(run), bill)
        agents = again.agents if Kind.LIVE in kinds else ()
        messages = again.messages if Kind.MESSAGE in kinds else ()
        report(f"{run}: playing it {len(agents) + len(messages)} times")
        with again.paying(bill):
            without = {agent: again.without_agent(agent) for agent in agents}
            unsent = {message: again.without_message(message) for message in messages}
        if Kind.LIVE in kinds:
            found.metrics |= compute_on_demand(LiveDifferences(list(without.values())))
            found.add("agent", "live_difference", without)
        if Kind.MESSAGE in kinds:
            found.metrics |= compute_on_demand(MessageValues(list(unsent.values())))
            found.add("message", "value", unsent)
    return found


def agent_credits(run: Path) -> dict[str, float | None]:
    """Return the difference reward of each agent of a run, by name.

    Raises:
        UserError: see `credits_of`.
    """
    rows = credits_of(run, [Kind.AGENT]).rows["agent"]
    return {str(name): worth["difference"] for name, worth in rows.items()}


def difference_rewards(episode: RecordedEpisode, start: int = 0) -> list[Utility]:
    """Return what the team loses without each agent, by index.

    If the run without an agent ends earlier, its utility is that at its end. If it would last longer, it is cut where
    the recorded joint actions end.

    Args:
        episode: a recorded run, complete or cut off.
        start: the step from which the agent idles.

    Raises:
        UserError: the world draws from one random stream or cannot be replayed, or there is no such step.
    """
    steps = list(episode.trace.of(StepTaken))
    if start and start >= len(steps):
        raise UserError(f"{episode.folder}: --idle-from {start}: the last step is {len(steps) - 1}")
    world = episode.world()
    _refuse_luck(world, str(episode.folder))
    for _ in episode.replay(world):
        pass  # checks the world against the record
    whole = _utility([step.reward for step in steps], world)
    joints = [step.joint for step in steps]
    seed = episode.trace.start.seed
    outside = [*episode.trace.stamped(WorldChange), *episode.trace.stamped(WorldLuck)]
    changes = [(stamped.t, stamped.event) for stamped in sorted(outside, key=attrgetter("seq"))]
    try:
        return [
            whole - utility_without(agent, world, seed, joints, start, changes=changes)
            for agent in range(len(world.agents))
        ]
    except ChangeRefused as error:
        raise UserError(
            f"{episode.folder}: --of agent: the change of its world is not possible without an agent: "
            f"{sanitize(str(error), 400)}"
        ) from error


def utility_without(
    agent: int,
    world: World,
    seed: int,
    joints: Sequence[Joint],
    start: int = 0,
    *,
    changes: Sequence[tuple[int, Event]] = (),
) -> Utility:
    """Play recorded joint actions with one agent idle, and return the utility of the run.

    Args:
        agent: its index.
        world: the world of the run; it is reset.
        seed: the seed of the run.
        joints: the joint actions of the run, one for each step.
        start: the step from which the agent idles.
        changes: events that change the world from outside, each with its step.

    Raises:
        ChangeRefused: the world refuses a change in its state without the agent.
    """
    world.reset(seed)
    rewards: list[float] = []
    for t in range(len(joints) + 1):
        for at, changed in changes:
            if at == t:
                changed.apply(world)
        if t == len(joints):
            break
        transition = world.step(_idling(agent, world, joints[t]) if t >= start else joints[t])
        rewards.append(transition.reward)
        if transition.end:
            break
    return _utility(rewards, world)


def _idling(agent: int, world: World, joint: Joint) -> Joint:
    """Return a joint action in which the agent idles if it would act."""
    if joint[agent] is None:
        return joint
    action = world.start_action(agent, world.idle)
    changed = list(joint)
    if (end := action.status()) is not None:
        raise ValueError(f"world '{world.name}': its idle action ends before its first tick ({end.reason})")
    changed[agent] = action.act()
    action.close()
    return changed


def _utility(rewards: Sequence[float], world: World) -> Utility:
    progress = world.progress()
    return Utility(fsum(rewards), progress.reached, progress.score)


class Continuations:
    """Re-runs of a run with changes after which all minds think again.

    Re-runs with paid models are kept in a folder next to the run, so that a killed command resumes.

    Args:
        parent: the run.
        bill: limits of paid models, and their cost so far.

    Raises:
        UserError: its world draws from one random stream, it broke off, or its team uses a paid model without a budget.
    """

    def __init__(self, parent: Parent, bill: Bill | None = None) -> None:
        _refuse_luck(parent.episode.world(), str(parent.run))
        if parent.episode.trace.end is None or parent.episode.trace.end.outcome == Outcome.ERROR:
            raise UserError(
                f"{parent.run}: the run broke off, but without an agent or a message it would continue",
                "Run it to its end first. --of agent evaluates the recorded part.",
            )
        bill = bill or Bill()
        reference = Reference(parent, ("idle",), stands_in=bill.stands_in)
        if reference.on_disk and bill.budget.unlimited:
            raise UserError(
                f"{parent.run}: each agent or message needs a re-run with paid language models",
                "Set a limit: --budget-calls N, --budget-tokens N or --budget-usd X. --dry-run estimates the cost.",
            )
        self._parent = parent
        self.folder = parent.episode.folder.resolve().with_name(f"{parent.episode.folder.resolve().name}.credit")
        """The folder that keeps its paid re-runs."""
        self.pays = reference.on_disk
        """Whether it uses paid models."""
        reruns = Reruns(reference, self.folder)
        self.attempts = Attempts(
            play=reruns.play,
            name=reruns.name,
            left=reruns.left,
            success=FINISHED,
            longest=parent.configuration.max_steps,
            budget=bill.budget if reference.asks else Budget(),
            journal=Journal(None, {}),
            expected=expected_spending(reference, 0) if reference.asks else lambda _: Spent(),
            shadow=bill.spent,
        )
        self.whole = _worth(ending_of(parent.episode.trace))
        """The utility of the run."""

    @contextmanager
    def paying(self, bill: Bill) -> Iterator[None]:
        """Lock the folder of the paid re-runs, and add their cost to the bill even after an error.

        Raises:
            UserError: another command is computing the same credits.
        """
        with ExitStack() as stack:
            if self.pays:
                require_writable(self.folder, str(self._parent.run), "Copy the run to your own folder.")
                make_inside(self.folder.parent, self.folder.name)
                stack.enter_context(one_at_work(self.folder, "credit", "Wait for it, or stop it."))
            try:
                yield
            finally:
                bill.spent = self.attempts.spent
                bill.reruns += len(self.attempts.known)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents with a body, by index."""
        return tuple(self._parent.episode.trace.start.agents)

    @property
    def messages(self) -> tuple[int, ...]:
        """The messages of the run, in the order in which they were sent."""
        return tuple(message.message for message in self._parent.episode.trace.of(MessageSent))

    def without_agent(self, agent: str) -> Utility:
        """Return the loss if an agent idles from the start.

        Raises:
            UserError: the run cannot be replayed, no agent can idle in such a team, or the budget is used up.
        """
        return self._loss(Correction(Instant(0), (agent,)), f"without {agent}")

    def without_message(self, message: int) -> Utility:
        """Return the loss if a message is not delivered.

        Raises:
            UserError: the run cannot be replayed, or the budget is used up.
        """
        sent = self._parent.instant_of_drop((message,))
        return self._loss(Correction(sent, drops=(message,)), f"without message {message}")

    def _loss(self, correction: Correction, what: str) -> Utility:
        try:
            ending = self.attempts.ending(correction)
        except BudgetSpent as spent:
            hint = "To resume, give a larger budget."
            raise UserError(f"{self._parent.run}: not played {what}: {spent}", hint) from spent
        except UserError as error:
            raise UserError(f"{self._parent.run}: it cannot be played {what}: {error.message}", error.hint) from error
        if ending.outcome == Outcome.ERROR:
            raise UserError(f"{self._parent.run}: {what}, it ends in an error")
        return self.whole - _worth(ending)


def _worth(ending: Ending) -> Utility:
    return Utility(ending.returned, ending.reached, ending.score)


def _refuse_luck(world: World, run: str) -> None:
    """Refuse a world in which a change affects the luck of others.

    Raises:
        UserError: its rules draw random numbers from one stream.
    """
    if not keeps_luck_apart(world):
        raise UserError(
            f"{run}: the rules of '{world.name}' draw from one random stream: after the first difference all "
            "draws differ, so the worth of an agent or a message would include luck",
            "Compare teams over many seeds instead, or use a world whose luck is shared: in the open world, "
            "env.switches={luck: keyed}, as in crafter_coop.",
        )


def check_idle_from(start: int, kinds: Collection[Kind], *, write: bool) -> None:
    """Refuse a later start for re-runs that think again, and for credits that are stored.

    Raises:
        UserError: it is refused.
    """
    if start and (write or set(kinds) != {Kind.AGENT}):
        raise UserError(
            "--idle-from works only with --of agent, and metrics.json holds credits from the first step on",
            "Leave out --write and the other kinds of credit.",
        )


def write_credits(found: Credits) -> Credits:
    """Store the metrics of the credits of a run with its other metrics, and return them.

    Raises:
        UserError: the trace cannot be read, or the metrics cannot be written.
    """
    done = recompute(found.run)
    write_metrics(replace(done, metrics={**done.metrics, **found.metrics}))
    return found
