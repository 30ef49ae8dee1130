"""The schema of a composed configuration, and the rules between its parts.

No field has a default: default values are only in `configs/`. A group that chooses a component is checked against the
component's own schema, found by its `name`. Values are checked strictly and as JSON: `true` is not a number, `"8"` is
not 8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny

from maeil.clock import ClockCount, ClockUnit
from maeil.component import ComponentConfig, NamesFile, Usual
from maeil.mind import COORDINATOR
from maeil.seeds import Seeds
from quorum.agents.prompting.requests import TURNS
from quorum.configuration.checked_values import checked, component_values
from quorum.configuration.extensions import extension_values, together
from quorum.configuration.leaves import leaves
from quorum.configuration.members import MEMBERS, members_of, without_members
from quorum.configuration.providers.config import OF_THE_GROUP, ModelConfig, Operational, Pricing
from quorum.configuration.registry import REGISTRIES, minds, providers, topologies
from quorum.configuration.team_label import LEADER, converses, team_label
from quorum.configuration.team_models import check_models, fallbacks_of, llm_of, of_model
from quorum_base.user_errors import UserError, choices_hint

Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
MOST_DRAWS = 2**30
"""Maximum draws of one board, so that sample numbers of each fit into 63 bits."""
PLACE = ("seed", "episode", "draw")
"""The keys in which cells of one kind differ."""

_OF_THE_LOOP = ("extension",)
"""Optional top-level keys."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Clock(_Part):
    """The cognitive clock."""

    unit: ClockUnit
    """What determines the cost of a thought."""
    count: ClockCount
    """Whether a model's thinking tokens count, if tokens determine the cost."""
    delivery: Annotated[float, Field(ge=0)]
    """Cognitive time from the end of a thought to the arrival of its messages."""
    max_thoughts_per_step: Positive
    """Maximum thoughts of one agent in one environment step."""


class Memory(_Part):
    """What an agent sees of the past."""

    messages: Natural
    """Number of earlier messages."""
    exchanges: Annotated[Positive, Usual(32)]
    """Maximum earlier turns shown to a model if its mind's memory is a conversation; beyond that, the older half is
    dropped.
    """
    keep: Annotated[bool, Usual(True)]
    """Whether minds with memory keep it for the next episode."""
    store: Annotated[Annotated[str, Field(min_length=1)] | None, Usual(None)]
    """Folder that stores the memory of single runs; null: none. Only its contents are part of a cell."""


class WallLimits(_Part):
    """Wall-clock limits; an episode that reaches one ends as `error`."""

    thought_seconds: Annotated[float, Field(gt=0)] | None
    """Maximum duration of one thought; null: no limit."""
    episode_seconds: Annotated[float, Field(gt=0)] | None
    """Maximum duration of the episode; null: no limit."""
    step_seconds: Annotated[Annotated[float, Field(gt=0)] | None, Usual(600.0)]
    """Maximum duration for which code of the episode may run without returning; null: no limit. The default exceeds the
    time in which environments load, kernels compile and solvers search.
    """


class Budget(_Part):
    """Limits on model calls; an episode that reaches one ends as `budget`, scored and labelled."""

    usd: Annotated[float, Field(gt=0)] | None
    """Cost of the episode in US dollars; null: no limit."""
    tokens: Positive | None
    """Tokens that its calls read and write; null: no limit."""
    calls: Positive | None
    """Requested answers, including repairs and answers that never arrive; null: no limit."""


class Knobs(_Part):
    """The keys that all groups share."""

    n: Positive
    """Number of embodied agents in the team."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """Determines the board; every other random stream is derived from it, `episode` and `draw`."""
    episode: Annotated[Natural, Usual(0)]
    """Number in a line of episodes on one board."""
    draw: Annotated[int, Field(ge=0, lt=MOST_DRAWS), Usual(0)]
    """Sample number on one board: of minds, topology, extensions and models."""
    max_steps: Positive
    """Environment steps after which the episode is truncated."""
    max_repairs: Natural
    """Number of retries after an agent's invalid plan."""
    memory: Memory
    """What an agent sees of the past."""
    limits: WallLimits
    """Wall-clock limits of an episode."""
    budget: Budget
    """Limits on model calls."""
    prompts: Mapping[str, Any]
    """Prompt templates; they are passed on to the minds that use them, and checked by the minds' schemas."""
    clock: Clock
    """The cognitive clock."""


class Configuration(Knobs):
    """A complete configuration: the shared keys, and the components with their own values."""

    env: SerializeAsAny[ComponentConfig]
    """The world."""
    agents: SerializeAsAny[ComponentConfig]
    """The minds of the team, except those of single participants."""
    members: Mapping[str, SerializeAsAny[ComponentConfig]]
    """The minds of single participants, by participant; written in `agents.members`."""
    leader: SerializeAsAny[ComponentConfig] | None
    """The mind of the topology's leader, if it differs; written in `agents.leader`."""
    topology: SerializeAsAny[ComponentConfig]
    """Who may speak to whom, and in which order."""
    llm: SerializeAsAny[ModelConfig]
    """The language model."""
    extension: Mapping[str, SerializeAsAny[BaseModel]]
    """Active extensions, by name, in the order of their hooks."""

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as JSON-ready data, identical for equal configurations however they were written.

        It omits empty `extension` and members' minds, and the storage folder of memory, which is not part of a cell.
        """
        absent = [] if self.extension else ["extension"]
        plain = self.model_dump(mode="json", exclude={"members", "leader", *absent})
        if self.members:
            plain["agents"][MEMBERS] = {name: own.model_dump(mode="json") for name, own in self.members.items()}
        if self.leader is not None:
            plain["agents"][LEADER] = self.leader.model_dump(mode="json")
        plain["memory"]["store"] = None
        return plain

    @property
    def seeds(self) -> Seeds:
        """Root of all random streams except the board's, which all episodes of a line and all draws share."""
        place = Seeds(self.seed).child("episode").child(self.episode) if self.episode else Seeds(self.seed)
        return place.child("draw").child(self.draw) if self.draw else place

    @property
    def remembers(self) -> bool:
        """Whether the team keeps memory for the next episode."""
        return self.memory.keep and self._could_remember

    @property
    def _could_remember(self) -> bool:
        return any(minds.get(mind.name).remembers for mind in self.team.values())

    @property
    def team(self) -> Mapping[str, ComponentConfig]:
        """The minds by configuration key: `agents`, `agents.members.agent_0`, `agents.leader`."""
        members = {f"agents.{MEMBERS}.{name}": own for name, own in self.members.items()}
        leader = {f"agents.{LEADER}": self.leader} if self.leader is not None else {}
        return {"agents": self.agents, **members, **leader}

    @property
    def team_label(self) -> str:
        """The names of the minds, each but the first with its participants: `naive+heuristic@0,2`."""
        return team_label(self.to_json()["agents"])

    @property
    def uses_models(self) -> bool:
        """Whether minds use language models."""
        return any(minds.get(own.name).uses_models for own in self.team.values())

    @property
    def unused(self) -> Mapping[str, str]:
        """The groups that none of its minds uses, each with what the minds do not do."""
        talks = any(minds.get(own.name).talks for own in self.team.values())
        talk = {} if talks else {"topology": "does not talk"}
        think = {} if self.uses_models else dict.fromkeys(("llm", "prompts", "budget"), "asks no language model")
        return {**talk, **think}

    def identity(self) -> dict[str, Any]:
        """Return the plain form without values that change no decision: it identifies the cell.

        It omits:

        - `llm` and `budget` if the minds use no model, operational values of `llm`, and prices unless a budget in US
          dollars depends on them;
        - `prompts`, which are repeated in the values of the minds that use them;
        - keys added by a later version, if they have the value that earlier versions implied (`Usual`);
        - `memory.keep` if no mind has memory, and `memory.exchanges` if none has conversations;
        - paths of files that minds and extensions read (`NamesFile`).
        """
        plain = self.to_json()
        plain = _without(_as_before(self, plain), plain)
        without = _as_before(self.memory, plain["memory"])
        without |= set() if self._could_remember else {"keep"}
        without |= set() if converses(plain["agents"]) else {"exchanges"}
        plain["memory"] = _without(without, plain["memory"])
        plain["limits"] = _without(_as_before(self.limits, plain["limits"]), plain["limits"])
        for group, part in (("env", self.env), ("agents", self.agents)):
            plain[group] = _named_by(part, plain[group])
        for key, mind in self.members.items():
            plain["agents"][MEMBERS][key] = _named_by(mind, plain["agents"][MEMBERS][key])
        if self.leader is not None:
            plain["agents"][LEADER] = _named_by(self.leader, plain["agents"][LEADER])
        for name, own in self.extension.items():
            plain["extension"][name] = _without(_files(own), plain["extension"][name])
        del plain["prompts"]
        if not self.uses_models:
            del plain["llm"], plain["budget"]
            return plain
        fields = type(self.llm).model_fields
        markers = (Operational,) if self.budget.usd is not None else (Operational, Pricing)
        operational = {name for name, field in fields.items() if any(mark in markers for mark in field.metadata)}
        plain["llm"] = _without(operational | _as_before(self.llm, plain["llm"]), plain["llm"])
        for group in set(OF_THE_GROUP) & plain["llm"].keys():
            plain["llm"][group] = {name: _without(operational, own) for name, own in plain["llm"][group].items()}
        return plain

    @property
    def place(self) -> dict[str, int]:
        """The keys that distinguish this cell from others of its kind, as in `identity`."""
        values = {name: getattr(self, name) for name in PLACE}
        usual = _usual(type(self))
        return {name: value for name, value in values.items() if name not in usual or value != usual[name]}

    def llm_of(self, participant: str, role: str = "") -> ModelConfig:
        """Return the values of a call's model: those of `llm`, overridden by the role's, then the participant's.

        Args:
            participant: the caller; empty: one without special values.
            role: role of the call; empty: one without special values.

        Raises:
            UserError: these values do not fit together.
        """
        return llm_of(self.llm.model_dump(mode="json"), participant, role)

    def writes_thoughts(self, participant: str, role: str) -> bool:
        """Whether a model writes its thoughts into its answers in a role, if the prompts leave that open."""
        return self.llm_of(participant, role).writes_thoughts(participant, role)

    @property
    def extensions(self) -> Mapping[str, BaseModel]:
        """All active extensions: the chosen ones, then those that topology and minds require.

        Raises:
            UserError: two of them require different values of one extension.
        """
        of_minds = [minds.get(mind.name).requires(mind) for mind in self.team.values()]
        return together([self.extension, topologies.get(self.topology.name).requires(self.topology), *of_minds])

    @property
    def special_models(self) -> Mapping[str, ModelConfig]:
        """The models other than that of `llm`, by key: `llm.agents.agent_0`, `llm.roles.assessor.fallback.0`."""
        found = {f"llm.agents.{name}": self.llm_of(name) for name in self.llm.participants}
        found |= {f"llm.roles.{role}": self.llm_of("", role) for role in self.llm.special_roles}
        chosen: Mapping[str, ModelConfig] = {"llm": self.llm, **found}
        instead = {key: fallbacks_of(model) for key, model in chosen.items()}
        own = {key: models for key, models in instead.items() if key == "llm" or models != instead["llm"]}
        return found | {f"{key}.fallback.{i}": model for key, models in own.items() for i, model in enumerate(models)}

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles in which its minds call language models, as far as minds and topology declare them."""
        of_topology = [str(role) for role in topologies.get(self.topology.name).roles(self.topology) or ()]
        asking = [mind for mind in self.team.values() if minds.get(mind.name).uses_models]
        found: dict[str, None] = {}
        for mind in asking or [self.agents]:
            own = minds.get(mind.name).roles(mind)
            found |= dict.fromkeys(of_topology if own is None else map(str, own))
        return tuple(dict.fromkeys((*found, *(role for role in of_topology if role == COORDINATOR))))


def _as_before(part: BaseModel, plain: Mapping[str, Any]) -> set[str]:
    """Return the keys added by a later version that have the value implied by earlier versions."""
    return {name for name, value in _usual(type(part)).items() if plain[name] == value}


@cache
def _usual(schema: type[BaseModel]) -> Mapping[str, Any]:
    """Return the keys added by later versions, each with the value implied by earlier versions."""
    fields = schema.model_fields.items()
    return {name: mark.value for name, field in fields for mark in field.metadata if isinstance(mark, Usual)}


def _files(part: BaseModel) -> set[str]:
    """Return the keys that name files, which are identified by their contents."""
    fields = type(part).model_fields.items()
    return {name for name, field in fields if any(isinstance(mark, NamesFile) for mark in field.metadata)}


def _named_by(part: BaseModel, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a part that identify the cell."""
    return _without(_as_before(part, plain) | _files(part), plain)


def _without(names: set[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values without some keys, also in their fallbacks."""
    kept = {name: value for name, value in values.items() if name not in names}
    if isinstance(fallback := kept.get("fallback"), list):
        kept["fallback"] = [_without(names, own) for own in fallback]
    return kept


def validate(raw: Mapping[str, Any], *, recorded: bool = False) -> Configuration:
    """Check a composed configuration.

    Args:
        raw: the configuration.
        recorded: whether it was read from a run folder, which may be untrusted: no value may name a file.

    Raises:
        UserError: the errors, one line for each key.
    """
    _check_data(raw)
    knobs = _knobs(raw, recorded=recorded)
    values = without_members(raw)
    parts = {r.group: component_values(r, values, recorded=recorded) for r in REGISTRIES}
    members, leader = members_of(raw, parts["agents"], recorded=recorded)
    llm = of_model(parts["llm"])
    check_models(raw["llm"], llm)
    whole = Configuration(
        **dict(knobs),
        env=parts["env"],
        agents=parts["agents"],
        members=members,
        leader=leader,
        topology=parts["topology"],
        llm=llm,
        extension=extension_values(raw, recorded=recorded),
    )
    _check_common_knobs(knobs, {**parts, **whole.team})
    _check_answers(whole)
    if whole.uses_models:
        _check_roles(whole)
    _check_store(whole)
    return whole


def validate_alike(first: Configuration, raw: Mapping[str, Any]) -> Configuration:
    """Check a composed configuration that differs from a checked one only in the keys of `PLACE`.

    Raises:
        UserError: the errors, one line for each key.
    """
    _check_data({name: raw[name] for name in PLACE})
    knobs = _knobs(raw)
    own = {"env": first.env, "topology": first.topology, **first.team}
    _check_common_knobs(knobs, own)
    return first.model_copy(update={name: getattr(knobs, name) for name in PLACE})


def _knobs(raw: Mapping[str, Any], *, recorded: bool = False) -> Knobs:
    groups = [*(registry.group for registry in REGISTRIES), *_OF_THE_LOOP]
    knobs = {key: value for key, value in raw.items() if key not in groups}
    if recorded and isinstance(knobs.get("memory"), Mapping):
        knobs = {**_usual(Knobs), **knobs, "memory": {**_usual(Memory), **knobs["memory"]}}
    return checked(Knobs, knobs, "", known=[*Knobs.model_fields, *groups])


def _check_store(whole: Configuration) -> None:
    """Check that the team has memory if a storage folder is configured."""
    if whole.memory.store is None or whole.remembers:
        return
    if not whole.memory.keep:
        raise UserError("memory.store: with memory.keep=false, there is nothing to store", "Leave one of them out.")
    able = [name for name in minds.names() if minds.get(name).remembers]
    hint = f", or choose minds that do: agents={', agents='.join(able)}" if able else ""
    raise UserError(
        f"memory.store: agents={whole.team_label} keeps no memory for the next episode", f"Leave it out{hint}."
    )


def _check_answers(whole: Configuration) -> None:
    """Check that extensions are compatible, and that all minds answer those extensions that the topology requires.

    Raises:
        UserError: they do not.
    """
    assert whole.extensions is not None  # raises if the values do not fit together
    for name in topologies.get(whole.topology.name).requires(whole.topology):
        for place, mind in whole.team.items():
            if not minds.get(mind.name).answers:
                able = [other for other in minds.names() if minds.get(other).answers]
                raise UserError(
                    f"topology={whole.topology.name}: {place}={mind.name} does not answer its questions ({name})",
                    f"Choose another topology, or minds that do: {place}={f', {place}='.join(able)}.",
                )


def _check_roles(whole: Configuration) -> None:
    """Check that every role and turn with special values or a deadline exists.

    Raises:
        UserError: this team lacks one.
    """
    roles = whole.roles
    for role in whole.llm.special_roles:
        if role not in roles:
            team = f"agents={whole.team_label} topology={whole.topology.name}"
            hint = choices_hint(role, "Its roles", roles) or "It has no roles: llm.agents.NAME is for single agents."
            raise UserError(f"llm.roles.{role}: {team} has no such role that asks a model", hint)
    for sort in whole.llm.special_deadlines:
        if sort not in (*TURNS, *roles):
            hint = choices_hint(sort, "Turns and roles", (*TURNS, *roles))
            raise UserError(f"llm.deadlines.{sort}: there is no such turn or role", hint)


def _check_data(raw: Mapping[str, Any]) -> None:
    """Check that the values can be represented in JSON."""
    for key, value in leaves(raw):
        if value is not None and type(value) not in (str, int, bool) and not isinstance(value, float):
            raise UserError(f"{key}: {value!r} is not a number, text, list or map")
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{key}: {value} is not a finite number")


def _check_common_knobs(knobs: Knobs, parts: Mapping[str, ComponentConfig]) -> None:
    """Check that components that repeat a shared key repeat its value, because names and tables show the shared one."""
    shared = {"n": knobs.n, "seed": knobs.seed, "max_steps": knobs.max_steps}
    for group, part in parts.items():
        if group == providers.group:
            continue  # a model's seed is its own: it samples answers, not boards
        for name, common in shared.items():
            own = getattr(part, name) if name in type(part).model_fields else common
            if own != common:
                raise UserError(
                    f"{group}.{name}: {own!r} differs from {name}={common!r}",
                    f"Set only {name}; {group} takes its value.",
                )
