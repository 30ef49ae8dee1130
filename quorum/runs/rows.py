"""What is known of each run, as a row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any

from maeil.outcomes import Outcome
from quorum.agents.simulated import CHANCE
from quorum.configuration.origin import Origin, Scalar
from quorum.runs.sweep_file import Sweep, SweepCell
from quorum_base.digests import digest
from quorum_base.user_errors import mask_passwords

OWN = (
    "name", "hash", "arm", "outcome", "reason", "error", "version", "inputs", "providers", "models", "fallbacks",
    "simulated",
)  # fmt: skip
"""The columns of a record before the configuration and the metrics."""

POOLED = (Outcome.SUCCESS, Outcome.FAILURE, Outcome.ENDED, Outcome.TRUNCATED, Outcome.BUDGET)
"""Outcomes that statistics are made of: an error says nothing about the team (docs/comparing.md)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One run, in one arm.

    Attributes:
        folder: its files.
        name: name of the folder, unique in a sweep.
        hash: of its configuration: runs of one cell share it.
        seed: names the board.
        arm: the arm of the sweep that planned it; None where none did.
        outcome: how it ended, an `Outcome`; `unfinished` where the folder does not say.
        reason: why it was ended before its time; else empty.
        error: class and message of the error; else empty.
        version: of the code: that of the distribution, and the commit of a checkout, `0.3.0 (1a2b3c4d, changed)`.
        inputs: digests of what else decided, apart from the configuration: templates of prompts, plug-ins, files.
        unused: groups of the configuration that its minds had no use for, each with what they do not do.
        packages: versions of Python and of every package that it ran with.
        start: when it began, ISO 8601.
        providers: where its configuration has the language models from: `openai`, `groq`, an address.
        models: the language models that answered.
        fallbacks: those that answered in the place of others, which could not be reached.
        simulated: whether one of them was simulated.
        factors: its configuration, flat: `topology.rounds` to 1. `llm.*` and `budget.*` are left out where no model
            answered and nothing failed, since they changed nothing.
        metrics: by name; booleans are 0 and 1, None is not defined.
        origin: what its cell goes back to, whose factors it has; None: nothing.
        fingerprints: what the services of its models call the builds that answered.
    """

    folder: Path
    name: str
    hash: str
    seed: int
    arm: str | None
    outcome: str
    reason: str
    error: str
    version: str
    inputs: Mapping[str, str]
    unused: Mapping[str, str]
    packages: Mapping[str, str]
    start: str
    providers: tuple[str, ...]
    models: tuple[str, ...]
    fallbacks: tuple[str, ...]
    simulated: bool
    factors: Mapping[str, Scalar]
    metrics: Mapping[str, float | None]
    origin: Origin | None = None
    fingerprints: tuple[str, ...] = ()

    @property
    def chance(self) -> bool:
        """Whether its answers were drawn at random (`llm=random`), and no model was asked."""
        return self.models == (CHANCE,)

    @property
    def pooled(self) -> bool:
        """Whether the run may stand in statistics."""
        return self.outcome in POOLED

    @property
    def failed(self) -> bool:
        """Whether it ended in an error."""
        return self.outcome == Outcome.ERROR

    @property
    def inputs_digest(self) -> str:
        """What stands for all inputs in tables: eight digits; empty where there are none."""
        return digest(json.dumps(self.inputs, sort_keys=True).encode())[:8] if self.inputs else ""

    @property
    def shown_factors(self) -> dict[str, Scalar]:
        """Its configuration without the passwords of addresses, fit to leave this machine."""
        return {key: mask_passwords(own) if isinstance(own, str) else own for key, own in self.factors.items()}

    def shown_record(self) -> dict[str, Scalar]:
        """Return its record in the same form."""
        return {**self.record(), **self.shown_factors}

    def own(self) -> dict[str, Scalar]:
        """Return the columns `OWN` of its record."""
        own = {name: getattr(self, name) for name in OWN}
        several = {name: "; ".join(getattr(self, name)) for name in ("providers", "models", "fallbacks")}
        return {**own, "inputs": self.inputs_digest, **several}

    def record(self) -> dict[str, Scalar]:
        """Return the run as one flat record: the columns `OWN`, then the configuration, then the metrics."""
        return {**self.own(), **self.factors, **self.metrics}


@dataclass(frozen=True, slots=True)
class Damaged:
    """A folder of a run that cannot be read.

    Attributes:
        name: of the folder.
        reason: what is wrong with it.
    """

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Results:
    """The runs of one folder.

    Attributes:
        folder: where they are.
        sweep: what was planned there; None for a plain folder of runs.
        rows: in planning order, then the runs that no plan names, by name.
        missing: planned cells of which there is no run.
        unfinished: folders of runs that were not finished.
        damaged: folders that cannot be read.
    """

    folder: Path
    sweep: Sweep | None
    rows: tuple[Row, ...]
    missing: tuple[SweepCell, ...]
    unfinished: int
    damaged: tuple[Damaged, ...]

    def records(self) -> list[dict[str, Scalar]]:
        """Return one flat dictionary a run, all with the same keys: `pandas.DataFrame(results.records())`.

        The keys are the columns of `results.csv` and the metrics that measure wall time. None stands for what a run
        does not have.
        """
        found = [row.record() for row in self.rows]
        columns = dict.fromkeys(key for record in found for key in record)
        return [{key: record.get(key) for key in columns} for record in found]


def keys_of(mappings: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the keys of mappings, most of which have the same ones, in the order in which they come."""
    return list(dict.fromkeys(key for keys in dict.fromkeys(map(tuple, mappings)) for key in keys))


def flatten(configuration: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return the leaves of a configuration by dotted key.

    A list is its JSON text; an extension without values is true, and any other empty map is left out.

    The keys of all runs are the same strings, of which tens of thousands of runs have many.
    """
    leaves: dict[str, Scalar] = {}
    for name, value in configuration.items():
        if isinstance(value, dict):
            leaves.update(_flat(name, json.dumps(value)))
        else:
            _collect({name: value}, "", leaves)
    return leaves


@lru_cache(maxsize=1024)
def _flat(name: str, text: str) -> Mapping[str, Scalar]:
    """Return the leaves of a group of a configuration, given as JSON; the runs of a sweep have few different ones."""
    leaves: dict[str, Scalar] = {}
    _collect({name: json.loads(text)}, "", leaves)
    return leaves


def _collect(values: Mapping[str, Any], prefix: str, leaves: dict[str, Scalar]) -> None:
    for key, value in values.items():
        if value == {} and prefix == "extension.":
            leaves[prefix + key] = True
        elif isinstance(value, dict):
            _collect(value, f"{prefix}{key}.", leaves)
        elif isinstance(value, list):
            leaves[intern(prefix + key)] = json.dumps(value, ensure_ascii=False)
        else:
            leaves[intern(prefix + key)] = value
