"""Whether a topology is one that a team can work in; if not, what to set."""

from __future__ import annotations

from maeil.topology import Topology


def needs_leader(agents: str, topology: Topology, rounds: int) -> None:
    """Check that a coordinator directs the team.

    Args:
        agents: name of the minds.
        topology: how they may talk.
        rounds: the value of `topology.rounds` that the message asks for.

    Raises:
        ValueError: none does; or it only opens a dialogue, in which nobody can object to it; or it is told the open
            tasks, which the prompts of roles do not show: they tell the whole world.
    """
    if not topology.coordinated or topology.dialogue:
        has = "has none as it stands" if not topology.coordinated else "lets it only open a dialogue"
        raise ValueError(
            f"agents={agents} needs a coordinator, and topology={topology.name} {has}: "
            f"set topology=centralized topology.leader=coordinator topology.rounds={rounds}"
        )
    if topology.feedback:
        raise ValueError(
            f"agents={agents} plans from the whole state of the world and shows no feedback of the loop: "
            "set topology.feedback=none"
        )


def needs_dialogue(agents: str, topology: Topology, opens: str) -> int:
    """Check that the team talks in a dialogue, and return how often each may speak in it.

    Args:
        agents: name of the minds.
        topology: how they may talk.
        opens: `team` or `coordinator`: who has to begin.

    Raises:
        ValueError: it does not, or somebody else begins.
    """
    if not topology.dialogue or topology.rounds is None:
        raise ValueError(
            f"agents={agents} talks in a dialogue, and topology={topology.name} is none: "
            f"set topology=dialogue topology.opens={opens}"
        )
    if topology.coordinated != (opens == "coordinator"):
        other = "team" if opens == "coordinator" else "coordinator"
        raise ValueError(
            f"agents={agents} talks in a dialogue that the {opens} opens, and here the {other} does: "
            f"set topology.opens={opens}"
        )
    return topology.rounds
