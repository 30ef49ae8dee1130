"""Minds that say what a test has written down, and what runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from maeil import Call, Extension, LoopSettings, Mind, Plan, Thought, Topology, View, World, run_episode
from maeil.trace import Listener, Recorder, Stamped
from quorum.topologies.plain import Individual
from tests.maeil.corridor import Corridor, Walk


class Scripted:
    """Answers with the given thoughts in turn, the last one for ever; keeps what it saw."""

    def __init__(self, *thoughts: Thought | Callable[[View], Thought], delays: Iterable[float] = ()) -> None:
        self.thoughts = list(thoughts)
        self.delays = iter(delays)
        self.views: list[View] = []

    async def think(self, view: View) -> Thought:
        self.views.append(view)
        await asyncio.sleep(next(self.delays, 0))
        thought = self.thoughts.pop(0) if len(self.thoughts) > 1 else self.thoughts[0]
        return thought(view) if callable(thought) else thought


def walk(*steps: int, tokens: int | None = None) -> Thought:
    """A thought that commits walks of these lengths, at the cost of so many tokens."""
    calls = (Call(tokens, {}),) if tokens is not None else ()
    return Thought(Plan(tuple(Walk(steps=k) for k in steps)), calls=calls)


def play(
    minds: Sequence[Mind],
    world: World | None = None,
    *,
    topology: Topology | None = None,
    settings: LoopSettings | None = None,
    seed: int = 7,
    coordinators: Sequence[tuple[str, Mind]] = (),
    path: Path | None = None,
    listener: Listener | None = None,
    extensions: Sequence[Extension] = (),
) -> list[Stamped]:
    """Run an episode and give its events."""
    events: list[Stamped] = []
    listeners = [events.append] if listener is None else [events.append, listener]
    with Recorder(path, listeners) as recorder:
        asyncio.run(
            run_episode(
                world or Corridor(len(minds)),
                minds,
                topology or Individual(),
                seed=seed,
                settings=settings or LoopSettings(),
                recorder=recorder,
                coordinators=coordinators,
                extensions=extensions,
            )
        )
    return events


def lines(events: Iterable[Stamped], *kinds: str) -> list[str]:
    """Events of some kinds as short lines, to be compared with what a test has written out by hand."""
    found = []
    for stamped in events:
        e = stamped.event
        if e.kind not in kinds:
            continue
        match e.kind:
            case "stage":
                text = f"agent {e.agent} {e.from_stage}->{e.to_stage} {e.reason}"
            case "plan":
                text = (
                    f"{e.plan} {e.status}" + (f" ({e.reason})" if e.reason else "") + (f" [{e.flag}]" if e.flag else "")
                )
            case "action":
                text = f"{e.plan} {e.action} {e.status}" + (f" ({e.reason})" if e.reason else "")
            case "step":
                text = f"step {list(e.joint)}"
            case "thought_end":
                text = f"agent {e.agent} thought {e.cost:g}"
            case "message_sent":
                text = f"agent {e.sender} says {e.content!r} to {list(e.recipients)}"
            case "messages_read":
                text = f"agent {e.agent} reads {', '.join(map(str, e.messages))}"
            case "forced_ready":
                text = f"agent {e.agent} forced"
            case _:
                text = e.kind
        found.append(f"t={stamped.t} t^={stamped.t_hat:g}: {text}")
    return found
