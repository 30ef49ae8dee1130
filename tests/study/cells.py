"""The teams and worlds in which control arms are tested."""

from __future__ import annotations

from pathlib import Path

from quorum.study.donors import write_donors
from tests.recorded import recorded_run

ARMS = ("mute", "null", "own", "shuffled", "truth")
LED = ("topology=centralized", "topology.leader=coordinator")
WORLDS = {
    "cube": ("env=cube", "n=4"),
    "crafter": ("env=crafter_coop", "n=3"),
    "transport": ("env=transport_hard", "n=4"),
    "squeeze": ("env=squeeze", "n=4"),
    "foraging": ("env=foraging", "n=4", "env.sight=3"),
}
TOPOLOGIES = ("debate", "centralized", "decentralized", "hierarchy", "hybrid")
TEAMS = {
    **{f"naive {name}": ("agents=naive", f"topology={name}") for name in TOPOLOGIES},
    "naive feedback": ("agents=naive", "topology=centralized", "topology.feedback=constraints"),
    "naive dytopo": ("agents=naive", "topology=dytopo"),
    "cmas": ("agents=cmas", *LED, "topology.rounds=0"),
    "dmas": ("agents=dmas", "topology=dialogue"),
    "hmas1": ("agents=hmas1", "topology=dialogue", "topology.opens=coordinator"),
    "hmas2": ("agents=hmas2", *LED, "topology.rounds=1"),
    "llamac": ("agents=llamac", *LED, "topology.rounds=3"),
}


def treatment(world: str, team: str, *words: str, seed: int = 8) -> tuple[str, ...]:
    """The arguments of a treatment, with the simulated model."""
    return (*WORLDS[world], *TEAMS[team], "llm=simulated", f"seed={seed}", *words)


def donors_of(words: tuple[str, ...], folder: Path) -> Path:
    """Write what is said in the run with these arguments."""
    file = folder / "donors.json"
    write_donors([recorded_run(*words)], file)
    return file


def arm_words(arm: str, donors: Path) -> tuple[str, ...]:
    """The arguments that make a control arm of a treatment."""
    more = (f"extension.control.donors={donors}",) if arm == "shuffled" else ()
    return (f"extension={arm}", *more)
