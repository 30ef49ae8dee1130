"""The reference policy: another mind, another model, or a fresh copy of each agent's own mind."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from maeil import Mind, TeamContext
from maeil.component import ComponentConfig, Handover
from quorum.configuration.edits import edited
from quorum.configuration.members import MEMBERS
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.registry import minds
from quorum.configuration.schema import Configuration, validate
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.episode.substitute import NO_MODELS, substituted
from quorum.episode.team import build_team
from quorum.what_if.branch.parent import Parent
from quorum_base.user_errors import UserError

SELF = "self"
"""The reference that is a fresh copy of each agent's own mind."""
USUAL = "heuristic"
_FREE = (*NO_MODELS, "replay")


@dataclass(frozen=True)
class Reference:
    """The reference policy of a run.

    Attributes:
        parent: the run.
        by: `self`, the name of a mind, `KEY=VALUE` of `agents` and `llm`, or a name with values.
        config_dir: folders with more options of the groups.
        stands_in: whether the simulated model replaces all paid models, at their prices: an estimate.
    """

    parent: Parent
    by: tuple[str, ...]
    config_dir: ConfigDir = ()
    stands_in: bool = False
    _known: dict[frozenset[str], Configuration] = field(default_factory=dict, repr=False)
    _simulated: dict[frozenset[str], Configuration] = field(default_factory=dict, repr=False)
    _edits: dict[str, Sequence[str]] = field(default_factory=dict, repr=False)
    _said: dict[str, Sequence[tuple[str, str, Any]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, parent: Parent, by: Sequence[str], config_dir: ConfigDir = ()) -> Reference:
        """Choose the reference policy.

        Args:
            parent: the run.
            by: as the user gives it; empty: `heuristic`, or `self` in a team of only heuristic minds.
            config_dir: folders with more options of the groups.

        Raises:
            UserError: it cannot be read, or cannot take over.
        """
        if not by:
            team = {mind.name for mind in parent.configuration.team.values()}
            by = (SELF,) if team == {USUAL} else (USUAL,)
        names = [word for word in by if "=" not in word]
        for word in by:
            group = word.partition("=")[0].partition(".")[0]
            if "=" in word and (group not in ("agents", "llm") or "." not in word.partition("=")[0]):
                raise UserError(
                    f"--reference {word}: a reference is a mind or a model",
                    "For example: --reference heuristic, --reference self, --reference llm.model=gpt-5.",
                )
        if len(names) > 1 or (SELF in names and len(by) > 1):
            raise UserError(f"--reference {' --reference '.join(by)}: give one mind, or self alone")
        found = cls(parent, tuple(by), config_dir)
        found.check()
        return found

    @property
    def label(self) -> str:
        """Its name in messages."""
        return ",".join(self.by)

    @property
    def own(self) -> bool:
        """Whether it is a fresh copy of each agent's own mind."""
        return self.by == (SELF,)

    @property
    def participants(self) -> tuple[str, ...]:
        """All participants of the run: the agents by index, then any coordinator."""
        start = self.parent.episode.trace.start
        return (*start.agents, *start.coordinators)

    @property
    def players(self) -> tuple[str, ...]:
        """The participants for whom it can decide."""
        start = self.parent.episode.trace.start
        if not start.coordinators or self.own:
            return self.participants
        talks = all(minds.get(mind.name).talks for mind in self._minds((*start.coordinators,)))
        return self.participants if talks else tuple(start.agents)

    @property
    def talks(self) -> bool:
        """Whether it talks; else it has no opinion on messages."""
        return all(minds.get(mind.name).talks for mind in self._minds(self.participants[:1]))

    @property
    def asks(self) -> bool:
        """Whether re-runs use paid models, for the reference or for the team."""
        return asks_real(self._real(self.players)) or asks_real(self.parent.configuration)

    @property
    def costs(self) -> bool:
        """Whether the reference itself uses a paid model."""
        whole = self._real(self.players)
        return asks_real(whole) and any(minds.get(mind.name).uses_models for mind in self._minds(self.players))

    @property
    def on_disk(self) -> bool:
        """Whether re-runs are kept as separate runs on disk, because they are paid."""
        return self.asks and not self.stands_in

    def within(self, usd: float | None = None, tokens: int | None = None, calls: int | None = None) -> Configuration:
        """Return the configuration in which the reference decides for all players, with a budget."""
        found = self.configuration(self.players)
        budget = found.budget.model_copy(update={"usd": usd, "tokens": tokens, "calls": calls})
        return found.model_copy(update={"budget": budget})

    def check(self) -> None:
        """Refuse a reference that cannot take over.

        Raises:
            UserError: it cannot.
        """
        for mind in self._minds(self.players):
            if minds.get(mind.name).handover is Handover.NEVER:
                able = [name for name in minds.names() if minds.get(name).handover is not Handover.NEVER]
                raise UserError(
                    f"--reference {self.label}: agents={mind.name} cannot take over during an episode: its state "
                    "builds up from the start",
                    f"These can: {', '.join(able)}.",
                )

    def _minds(self, names: Sequence[str]) -> list[ComponentConfig]:
        """Return the values of the minds that decide for some participants."""
        configuration = self._real(names)
        return [self._mind_in(configuration, name) for name in names]

    def _mind_in(self, configuration: Configuration, name: str) -> ComponentConfig:
        """Return the values of the mind that a participant has in a configuration."""
        leads = name in self.parent.episode.trace.start.coordinators
        usual = configuration.leader if leads and configuration.leader is not None else configuration.agents
        return configuration.members.get(name, usual)

    def edits(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the `KEY=VALUE` that let the reference decide for some participants."""
        for name in names:
            if name not in self._edits:
                self._edits[name] = self._edits_of(name)
        return tuple(edit for name in names for edit in self._edits[name])

    def _edits_of(self, name: str) -> list[str]:
        if self.own:
            return self._own_edits(name)
        found = []
        for word in self.by:
            key, equals, value = word.partition("=")
            if not equals:
                found.append(f"agents.{MEMBERS}.{name}={word}")
            elif key.startswith("llm."):
                found.append(f"llm.agents.{name}.{key.removeprefix('llm.')}={value}")
            else:
                mindless = all("=" in other for other in self.by) and not found
                found += self._own_edits(name) if mindless else []
                found.append(f"agents.{MEMBERS}.{name}.{key.removeprefix('agents.')}={value}")
        return list({edit.partition("=")[0]: edit for edit in found}.values())  # user values override the mind's

    def _own_edits(self, name: str) -> list[str]:
        """Return the `KEY=VALUE` that give a participant a fresh copy of its mind."""
        c = self.parent.configuration
        own = self._mind_in(c, name)
        edit = f"agents.{MEMBERS}.{name}={own.name}"
        usual = edited(c.to_json(), [edit], self.config_dir)["agents"][MEMBERS][name]
        values = own.model_dump(mode="json")
        differ = {key: value for key, value in values.items() if usual.get(key) != value and key != "prompts"}
        said = (f"agents.{MEMBERS}.{name}.{key}={_written(value)}" for key, value in differ.items())
        return [edit, *said]

    def configuration(self, names: Sequence[str]) -> Configuration:
        """Return the configuration of the run in which the reference decides for some participants.

        It equals the result of `edits`, which is composed once and applied to all participants alike.

        Raises:
            UserError: the edits are invalid.
        """
        real = self._real(names)
        if not (self.stands_in and asks_real(real)):
            return real
        chosen = frozenset(names)
        if chosen not in self._simulated:
            self._simulated[chosen] = substituted(real, self.participants, self.config_dir)
        return self._simulated[chosen]

    def _real(self, names: Sequence[str]) -> Configuration:
        chosen = frozenset(names)
        if self.own or not chosen:
            return self.parent.configuration
        if chosen not in self._known:
            plain = copy.deepcopy(self.parent.configuration.to_json())
            try:
                for name in names:
                    for group, key, values in self._said_of(name):
                        plain[group].setdefault(key, {})[name] = values
                self._known[chosen] = validate(plain, recorded=True)
            except UserError as error:  # in keys that the user typed
                text = re.sub(rf"\b(llm\.)agents\.\w+\.|\b(agents)\.{MEMBERS}\.\w+", r"\1\2", str(error))
                text = text.replace("too: llm.", "too: --reference llm.")
                raise UserError(f"--reference {self.label}: {text}") from error
        return self._known[chosen]

    def _said_of(self, name: str) -> Sequence[tuple[str, str, Any]]:
        """Return the changes for a participant: group, key, and the values under its name."""
        shared = any("=" not in word for word in self.by) or all(word.startswith("llm.") for word in self.by)
        known = "" if shared else name
        if known not in self._said:
            name = self.participants[0] if shared else name
            plain = edited(self.parent.configuration.to_json(), self._edits_of(name), self.config_dir)
            places = (("agents", MEMBERS), ("llm", "agents"))
            self._said[known] = [
                (g, k, plain[g][k][name]) for g, k in places if name in (plain.get(g, {}).get(k) or {})
            ]
        return self._said[known]

    def team(self, context: TeamContext, pool: ModelPool, books: CallLedger) -> Mapping[str, Mind]:
        """Build the reference as a shadow for all participants for whom it can decide.

        Args:
            context: context of the team in charge.
            pool: the model pool of the process.
            books: ledgers of its calls, with their budget.
        """
        after = self.configuration(self.players)
        models = EpisodeModels(after, pool, books)
        team = build_team(after, replace(context, models=models))
        return {name: mind for name, mind in zip(self.participants, team.minds, strict=True) if name in self.players}


def _written(value: object) -> str:
    """Return a value in the syntax of an edit: JSON, but with unquoted keys of mappings."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return orjson.dumps(value).decode()


def asks_real(configuration: Configuration, free: Sequence[str] = _FREE) -> bool:
    """Whether minds of a configuration use language models of paid providers."""
    if not configuration.uses_models:
        return False
    models = [configuration.llm, *configuration.special_models.values()]
    return any(model.name not in free for model in models)
