"""A cell: one configuration with its seed, and the name under which its results are kept; and as a plan holds it."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
import yaml

from quorum.experiments.configuration.compose import compose
from quorum.experiments.configuration.inputs import Inputs, inputs_of, recorded
from quorum.experiments.configuration.schema import Configuration, validate

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cell:
    """One episode to run.

    Where the results go, how progress is shown and what runs the cell are no part of its configuration, so equal cells
    have equal names wherever they run.

    Attributes:
        configuration: validated and fully resolved.
        plain: the same as JSON-ready data, in one canonical form.
        inputs: digests of what decides beside it: templates of prompts, plug-ins, files that it names.
    """

    configuration: Configuration
    plain: Mapping[str, Any] = field(repr=False)
    inputs: Inputs = field(repr=False)

    @classmethod
    def of(cls, raw: Mapping[str, Any], inputs: Callable[[Configuration], Inputs] = inputs_of) -> Cell:
        """Make a cell of a composed configuration.

        Args:
            raw: the configuration.
            inputs: digests what decides beside it; `recorded(...)` for a cell that has been named before.

        Raises:
            UserError: the configuration is not valid, or a template that it names is not there.
        """
        configuration = validate(raw)
        return cls(configuration, configuration.plain(), inputs(configuration))

    @classmethod
    def compose(cls, arguments: Sequence[str], config_dir: Path | None = None) -> Cell:
        """Make a cell of `KEY=VALUE` arguments.

        Raises:
            UserError: an argument or the configuration is not valid.
        """
        cell = cls.of(compose(arguments, config_dir))
        _log.info("composed %s", cell.name)
        return cell

    @property
    def seed(self) -> int:
        """The seed, which names the board."""
        return self.configuration.seed

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of the configuration's identity and of its inputs, in hexadecimal."""
        identity = self.configuration.identity()
        if self.inputs:
            identity["inputs"] = dict(self.inputs)
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def name(self) -> str:
        """Name of the results' folder: `cube-n8-heuristic-individual-s3-1a2b3c4d`.

        Where the minds think with a language model its name stands behind theirs: `cube-n8-naive-gpt-5-debate-...`.
        """
        c = self.configuration
        minds = f"{c.agents.name}-{self._model}" if c.uses_models else c.agents.name
        return f"{c.env.name}-n{c.n}-{minds}-{c.topology.name}-s{c.seed}-{self.hash[:8]}"

    @property
    def _model(self) -> str:
        """The model's name as a part of a file's name, with the number of the others that single agents have."""
        llm = self.configuration.llm
        labels = dict.fromkeys(model.label for model in self.configuration.special_models.values())
        others = len(labels.keys() - {llm.label})
        short = re.sub("[^A-Za-z0-9._]+", "-", llm.label.rpartition("/")[2]).strip("-.")[:32] or llm.name
        return f"{short}+{others}" if others else short

    def as_yaml(self, *, with_inputs: bool = False) -> str:
        """Return the hash and the configuration as YAML; if wanted also the digests of what decides beside it."""
        inputs = {"inputs": dict(self.inputs)} if with_inputs and self.inputs else {}
        data = {"hash": self.hash, **inputs, **self.plain}
        text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
        return text


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell in so few bytes that a plan can hold a million.

    Attributes:
        name: of its folder.
        hash: of its configuration's identity.
        kind: equal for cells that differ in nothing but the seed, and so are expected to cost the same.
        arm: the arm of the experiment that it belongs to, if any.
        uses_models: whether its minds think with language models.
        configuration: the resolved configuration as JSON.
        inputs: digests of what decides beside it; cells that are planned together share them.
    """

    name: str
    hash: str
    kind: str
    arm: str | None
    uses_models: bool
    configuration: bytes = field(repr=False)
    inputs: Inputs = field(repr=False)

    @classmethod
    def of(cls, cell: Cell, arm: str | None = None) -> PlannedCell:
        """Keep what a plan needs of a cell."""
        kind = hashlib.sha256(orjson.dumps({**cell.plain, "seed": None})).hexdigest()
        uses_models = cell.configuration.uses_models
        return cls(cell.name, cell.hash, kind, arm, uses_models, orjson.dumps(cell.plain), cell.inputs)

    def cell(self) -> Cell:
        """Return the cell itself."""
        return Cell.of(orjson.loads(self.configuration), recorded(self.inputs))


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc] # libyaml's, where it is there
    """Writes a text of several lines, such as a board, line by line."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)
