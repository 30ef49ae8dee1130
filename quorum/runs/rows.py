"""The data of each run, as a row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Any

from maeil.outcomes import Outcome
from quorum.agents.simulated import FLOORS
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
"""Outcomes included in statistics: an error says nothing about the team (docs/comparing.md)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One run, in one arm.

    Attributes:
        folder: folder of its files.
        name: name of the folder, unique in a sweep.
        hash: hash of its configuration, shared by the runs of one cell.
        seed: seed of the board.
        arm: the arm of the sweep that planned it; None if there is none.
        outcome: how it ended, an `Outcome`; `unfinished` if the folder does not say.
        reason: why it ended early; empty if it did not.
        error: class and message of the error; empty if there was none.
        version: version of the distribution, and the commit of a checkout, `0.3.0 (1a2b3c4d, changed)`.
        inputs: digests of inputs besides the configuration: prompt templates, plugins, files.
        unused: groups of the configuration that its minds did not use, each with what they do not do.
        packages: versions of Python and of every package that it ran with.
        start: start time, ISO 8601.
        providers: sources of the configured language models: `openai`, `groq`, an address.
        models: the language models that answered.
        fallbacks: models that answered for unreachable ones.
        simulated: whether one of them was simulated.
        factors: its configuration, flat: `topology.rounds` to 1. Excludes `llm.*` and `budget.*` if no model answered
            and nothing failed, since they had no effect.
        metrics: metrics by name; booleans are 0 and 1, None means undefined.
        origin: origin of its cell, whose factors it has; None: none.
        fingerprints: model builds that answered, as named by their services.
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
    def floor(self) -> str:
        """Name of the floor if no mind answered: `chance` (`llm=random`) or `echo` (`llm=echo`); else empty."""
        return self.models[0] if len(self.models) == 1 and self.models[0] in FLOORS else ""

    @property
    def pooled(self) -> bool:
        """Whether the run may be included in statistics."""
        return self.outcome in POOLED

    @property
    def failed(self) -> bool:
        """Whether it ended in an error."""
        return self.outcome == Outcome.ERROR

    @property
    def inputs_digest(self) -> str:
        """A short digest of all inputs for tables: eight digits; empty if there are none."""
        return digest(json.dumps(self.inputs, sort_keys=True).encode())[:8] if self.inputs else ""

    @property
    def shown_factors(self) -> dict[str, Scalar]:
        """Its configuration without passwords in addresses, safe to share."""
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
    """A run folder that cannot be read.

    Attributes:
        name: name of the folder.
        reason: the damage.
    """

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Results:
    """The runs of one folder.

    Attributes:
        folder: the folder.
        sweep: the plan of its sweep; None for a plain folder of runs.
        rows: in planning order, then runs that no plan names, by name.
        missing: planned cells without a run.
        unfinished: folders of unfinished runs.
        damaged: folders that cannot be read.
    """

    folder: Path
    sweep: Sweep | None
    rows: tuple[Row, ...]
    missing: tuple[SweepCell, ...]
    unfinished: int
    damaged: tuple[Damaged, ...]

    def records(self) -> list[dict[str, Scalar]]:
        """Return one flat dictionary per run, all with the same keys: `pandas.DataFrame(results.records())`.

        The keys are the columns of `results.csv` and the metrics that measure wall time. Missing values are None.
        """
        found = [row.record() for row in self.rows]
        columns = dict.fromkeys(key for record in found for key in record)
        return [{key: record.get(key) for key in columns} for record in found]


def keys_of(mappings: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the keys of mappings, most of which share them, in order of appearance."""
    return list(dict.fromkeys(key for keys in dict.fromkeys(map(tuple, mappings)) for key in keys))


def flatten(configuration: Mapping[str, Any], prefix: str = "") -> dict[str, Scalar]:
    """Return the leaves of a configuration by dotted key.

    A list becomes its JSON text; an extension without values becomes true, and any other empty map is left out.

    All runs share the strings, because tens of thousands of runs have many of them.

    Args:
        configuration: the configuration, or a part of it.
        prefix: what the keys start with.
    """
    leaves: dict[str, Scalar] = {}
    for name, value in configuration.items():
        key = intern(f"{prefix}{name}")
        if isinstance(value, dict):
            leaves |= {key: True} if prefix == "extension." and not value else flatten(value, f"{key}.")
        elif isinstance(value, list):
            leaves[key] = json.dumps(value, ensure_ascii=False)
        else:
            leaves[key] = intern(value) if type(value) is str else value
    return leaves
