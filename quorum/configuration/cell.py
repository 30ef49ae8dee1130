"""A cell: one configuration with its seed, and the name under which its results are kept."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson
import yaml

from quorum.configuration.inputs import Inputs, inputs_of
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.origin import ORIGIN, Origin
from quorum.configuration.schema import PLACE, Configuration, validate, validate_alike

_log = logging.getLogger(__name__)
_LONGEST = 64
"""Maximum characters for the minds in a folder name."""


@dataclass(frozen=True)
class Cell:
    """One episode to run.

    The results folder, the progress display and the engine are not part of its configuration, so equal cells have equal
    names wherever they run.

    Attributes:
        configuration: validated and fully resolved.
        inputs: digests of other inputs that affect the result: prompt templates, plugins, files that it names.
        origin: where it comes from, such as the run that it branches off; None: nowhere.
    """

    configuration: Configuration
    inputs: Inputs = field(repr=False)
    origin: Origin | None = None

    @classmethod
    def of(cls, raw: Mapping[str, Any], inputs: Callable[[Configuration], Inputs] = inputs_of) -> Cell:
        """Create a cell from a composed configuration.

        Args:
            raw: the configuration.
            inputs: computes the digests of other inputs.

        Raises:
            UserError: the configuration is not valid, or a template that it names is missing.
        """
        configuration = validate(raw)
        return cls(configuration, inputs(configuration))

    @classmethod
    def compose(cls, arguments: Sequence[str], config_dir: ConfigDir = ()) -> Cell:
        """Create a cell from `KEY=VALUE` arguments; see `quorum.configuration.default_agents` for its minds.

        Raises:
            UserError: an argument or the configuration is not valid.
        """
        from quorum.configuration.compose import Composer  # noqa: PLC0415 (Hydra, which workers do without)
        from quorum.configuration.default_agents import completed  # noqa: PLC0415 (as above)
        from quorum.configuration.overrides import parse  # noqa: PLC0415 (as above)

        overrides = parse(completed(arguments), single=True)
        cell = cls.of(Composer(config_dir).compose(overrides))
        _log.info("composed %s", cell.name)
        return cell

    def alike(self, raw: Mapping[str, Any]) -> Cell:
        """Create the cell of a composed configuration that differs from this one only in the knobs of `PLACE`.

        Shared parts are neither checked nor hashed again.

        Raises:
            UserError: the configuration is not valid.
        """
        configuration = validate_alike(self.configuration, raw)
        place = {name: getattr(configuration, name) for name in PLACE}
        other = Cell(configuration, self.inputs, self.origin)
        plain = {**self.plain, **place}
        other.__dict__.update(plain=plain, kind=self.kind, _label=self._label, _identity=self._identity)
        return other

    @property
    def seed(self) -> int:
        """The seed, which determines the board."""
        return self.configuration.seed

    @cached_property
    def plain(self) -> Mapping[str, Any]:
        """The configuration as JSON-ready data, in one canonical form."""
        return self.configuration.to_json()

    @cached_property
    def kind(self) -> str:
        """Key shared by cells that differ only in seed, episode and draw, and so are expected to cost the same."""
        return kind_of(self.plain)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of the configuration's identity and its inputs, in hexadecimal."""
        identity = {**self._identity, **self.configuration.place}
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """The hashed data shared by all cells of the kind."""
        identity = {key: value for key, value in self.configuration.identity().items() if key not in PLACE}
        if self.inputs:
            identity["inputs"] = dict(self.inputs)
        if self.origin is not None:
            identity[ORIGIN] = self.origin.identity
        return identity

    @cached_property
    def name(self) -> str:
        """Name of the results folder: `cube-n8-heuristic-individual-s3-1a2b3c4d`.

        If minds use a language model, its name follows: `cube-n8-naive-gpt-5-debate-...`. If single participants have
        minds of their own, the name lists them: `cube-n4-naive+heuristic@0.2-...`. A later draw adds its number:
        `...-s3-d2-1a2b3c4d`; an origin adds its label: `...-s3-at12-1a2b3c4d`.
        """
        c = self.configuration
        at = f"-{self.origin.label}" if self.origin is not None else ""
        draw = f"-d{c.draw}" if c.draw else ""
        return f"{self._label}-s{c.seed}{draw}{at}-{self.hash[:8]}"

    @cached_property
    def _label(self) -> str:
        """The common prefix of the names of all cells of the kind."""
        c = self.configuration
        minds = f"{self._minds}-{self._model}" if c.uses_models else self._minds
        return f"{c.env.name}-n{c.n}-{minds}-{c.topology.name}"

    @property
    def _minds(self) -> str:
        """The names of the minds for a file name; for a very large team, how many participants have their own."""
        c = self.configuration
        if len(c.team) == 1:
            return c.agents.name
        label = re.sub("[^A-Za-z0-9._+@-]+", "-", c.team_label.replace(",", "."))
        return label if len(label) <= _LONGEST else f"{c.agents.name}+{len(c.team) - 1}others"

    @property
    def _model(self) -> str:
        """The model's name for a file name, with the number of other models that single agents have."""
        llm = self.configuration.llm
        labels = dict.fromkeys(model.label for model in self.configuration.special_models.values())
        others = len(labels.keys() - {llm.label})
        short = re.sub("[^A-Za-z0-9._]+", "-", llm.label.rpartition("/")[2]).strip("-.")[:32] or llm.name
        return f"{short}+{others}" if others else short

    def as_yaml(self, *, with_inputs: bool = False) -> str:
        """Return the hash and the configuration as YAML, optionally with the digests of its inputs."""
        inputs = {"inputs": dict(self.inputs)} if with_inputs and self.inputs else {}
        data = {"hash": self.hash, **inputs, **self.plain}
        text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
        return text


def kind_of(plain: Mapping[str, Any], *more: Any) -> str:
    """Return a key shared by cells that are expected to cost the same.

    Args:
        plain: configuration of one such cell.
        more: other JSON-ready values that distinguish kinds.
    """
    alike = {**plain, **dict.fromkeys(PLACE)}
    return hashlib.sha256(orjson.dumps([alike, *more])).hexdigest()


def line_of(plain: Mapping[str, Any], inputs: Inputs) -> str:
    """Return a key shared by the cells of one line, which differ only in the episode.

    Args:
        plain: configuration of one such cell.
        inputs: digests of other inputs that affect the result.
    """
    parts = [{**plain, "episode": None}, dict(inputs)]
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc] # libyaml's version if available
    """Writes multi-line text, such as a board, line by line."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)
