"""Teams of the baselines for tests, in the corridor over models that tests write down, or in any world over any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from maeil import LoopSettings, World
from maeil.trace import Stamped
from quorum.agents.llm.structured import Structuring
from quorum.methods.baselines import teams
from quorum.topologies.dialogue import Dialogue, DialogueConfig
from tests.agents.llamac.stage import Cast, joint
from tests.agents.llamac.teams import coordinated
from tests.agents.naive_team import context, prompts, shipped
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import play

BASELINES = ("cmas", "hmas1", "hmas2", "dmas", "debaters")


def dialogue(opens: str, rounds: int = 4) -> Dialogue:
    return Dialogue(DialogueConfig(name="dialogue", rounds=rounds, opens=opens))


def fitting(name: str, agents: int, rounds: int | None = None) -> Any:
    """The topology that a baseline takes."""
    match name:
        case "dmas":
            return dialogue("team", rounds or 4)
        case "hmas1":
            return dialogue("coordinator", rounds or 4)
        case _:
            return coordinated(agents, {"hmas2": 1}.get(name, 0) if rounds is None else rounds)


def config(name: str, **changes: Any) -> Any:
    """The shipped configuration; `folder` and `rules` go into the set of prompts."""
    values = shipped("agents", name)
    own = {key: changes.pop(key) for key in ("folder", "rules") if key in changes}
    return vars(teams)[name].config(**{**values, "prompts": {**prompts(), **own}, **changes})


def episode(
    name: str,
    world: World,
    models: Callable[[str], Any],
    *,
    rounds: int | None = None,
    repairs: int = 0,
    seed: int = 1,
    path: Path | None = None,
    loop: LoopSettings | None = None,
    **changes: Any,
) -> list[Stamped]:
    """Play an episode of a baseline."""
    topology = fitting(name, len(world.agents), rounds)
    given = context(world, topology, lambda who: Structuring(models(who), repairs))
    minds = vars(teams)[name].build(config(name, **changes), given)
    n = len(world.agents)
    return play(
        minds[:n],
        world,
        topology=topology,
        seed=seed,
        coordinators=[("coordinator", mind) for mind in minds[n:]],
        path=path,
        settings=loop,
    )


def run(name: str, cast: Cast, folder: Path, agents: int = 2, *, world: Corridor | None = None, **changes: Any):
    """Play an episode in the corridor; one cast answers for all."""
    (folder / "rules.jinja").write_text("Walk to the end.", encoding="utf-8")
    world = world or Corridor(agents)
    return episode(name, world, lambda _: cast, folder=str(folder), **changes)


def end_of(events: list[Stamped]) -> Any:
    return events[-1].event


def agree() -> dict[str, Any]:
    """A reviewer's answer."""
    return {"thoughts": "so", "agrees": True, "reason": "", "proposal": None}


def object_to(reason: str, proposal: Any = None) -> dict[str, Any]:
    """A reviewer's answer."""
    return {"thoughts": "so", "agrees": False, "reason": reason, "proposal": proposal}


def say(text: str = "hm") -> dict[str, Any]:
    """A talker's answer that goes on talking."""
    return {"thoughts": "so", "message": text, "plans": None}


def state(**plans: Any) -> dict[str, Any]:
    """A talker's answer that states the joint plan."""
    return {**joint(**plans), "message": "let us go"}
