"""The values of the group `llm`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from maeil.component import ComponentConfig, Usual
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import MaxTokensKey, Structured, ThinkingEffort, ThinkingFormat
from quorum.agents.llm.redaction import holds_key
from quorum.configuration.leaves import texts
from quorum.configuration.secrets import looks_like_a_key
from quorum_base.user_errors import Withheld

_THINKING = "llm.effort, llm.thinking_tokens"
FIELDS_WITH_KEYS: Mapping[str, str] = json.loads(Path(__file__).with_name("fields_with_keys.json").read_bytes())
"""Fields of the request body in any format, each with the configuration key that sets it."""
_INNER = {"chat_template_kwargs": frozenset({"enable_thinking", "thinking", "reasoning_effort", "thinking_budget"})}
"""Fields in nested maps of the body that control thinking."""

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A token as defined in RFC 9110, section 5.6.2."""
_OF_THE_CLIENT = frozenset(
    {"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "accept-encoding"}
)
_SCHEME = re.compile(r"(bearer|basic|digest|token|negotiate|apikey|aws4-\S+)\s", re.IGNORECASE)


def free_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Check that fields of a request body have no configuration key of their own, and return them.

    Raises:
        ValueError: a field has its own key, which the message names; or a value looks like an API key.
    """
    for name, value in fields.items():
        if name in FIELDS_WITH_KEYS:
            raise ValueError(f"{name} has its own place: {FIELDS_WITH_KEYS[name]}")
        if inner := sorted(_INNER.get(name, frozenset()) & (value.keys() if isinstance(value, Mapping) else set())):
            raise ValueError(f"{name}.{inner[0]} has its own place: {_THINKING}")
    if any(_is_secret(text) for _, text in texts(fields)):
        raise Withheld("a value looks like a key: keys come from the environment alone (llm.api_key_env)")
    return fields


def harmless_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Check that headers contain no API key and override none of the client's own, and return them.

    Raises:
        Withheld: a header violates this; its value is not shown.
    """
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or _is_secret(name):
            raise Withheld("a name is not valid for a header")
        if holds_key(name):
            raise Withheld(f"{name} may hold a key: keys come from the environment alone (llm.api_key_env)")
        if name.lower() in _OF_THE_CLIENT:
            raise Withheld(f"{name} is set by the client itself")
        if not (value.isascii() and value.isprintable()):
            raise Withheld(f"{name} has characters that are not allowed in a header")
        if _is_secret(value):
            raise Withheld(f"{name} looks like a key: keys come from the environment alone (llm.api_key_env)")
    return headers


def _is_secret(text: str) -> bool:
    return looks_like_a_key(text) or _SCHEME.match(text) is not None


OWN = ("base_url", "api_key_env", "model", "prices", "service_tier")
"""Keys that belong to one provider: values of another provider do not inherit them."""
_WHO = ("name", *OWN)
"""Keys that determine which model answers."""
OF_THE_GROUP = ("agents", "roles")
"""Keys that exist only at the top of the group."""
_KEY = re.compile(r"llm\.(?:(?:agents|roles)\.[^.]+\.)?([^.]+)")


def layered(
    values: Mapping[str, Any], layers: Sequence[Mapping[str, Any]], keys_of: Callable[[str], Mapping[str, Any]]
) -> dict[str, Any]:
    """Merge layers of values over those of the group `llm`, key by key; the last layer takes precedence.

    A single layer determines which model answers: the last one that names a model or a provider. So the address of a
    role's model is never combined with the model of an agent.

    Args:
        values: values of the group.
        layers: overriding values.
        keys_of: returns the keys that a provider has, by its name.

    Returns:
        The values of one model, without values for single agents or roles.
    """
    decides = max((index for index, own in enumerate(layers) if "name" in own or "model" in own), default=-1)
    merged = dict(values)
    for index, layer in enumerate(layers):
        own = dict(layer)
        if index < decides:
            known = keys_of(merged["name"])
            own = {key: value for key, value in own.items() if key in known and key not in _WHO}
        merged = _over(merged, own, keys_of(own.get("name", merged["name"])))
    return {**merged, **{key: {} for key in OF_THE_GROUP if key in merged}}


def _over(values: Mapping[str, Any], own: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    other = own.get("name", values["name"]) != values["name"]
    inherited = {key: value for key, value in values.items() if not other or (key in known and key not in OWN)}
    if "prices" in known and "model" in own:
        inherited["prices"] = None  # these were the prices of another model
    return {**inherited, **own}


class Operational:
    """Marks a field that affects how a model is reached, but not which model answers or what it is asked.

    Such fields are not part of a cell's hash: a sweep that resumes with a lower concurrency finds its finished cells.
    """


class Pricing:
    """Marks a field that affects only the computed cost of an answer.

    Such fields are part of a cell's hash only if the episode has a budget in US dollars, because then they decide when
    it ends.
    """


Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]
Rate = Positive | None
Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]


class ModelConfig(ComponentConfig):
    """Base of the values of the group `llm` for all providers and substitutes."""

    @property
    def label(self) -> str:
        """The model's label in names and tables."""
        return self.name

    def writes_thoughts(self, participant: str, role: str) -> bool:  # noqa: ARG002 (ReplayConfig uses them)
        """Whether its answers start with its thoughts if the prompts leave that open (`prompts.thoughts=auto`).

        Args:
            participant: the caller.
            role: role of the call.
        """
        return True

    @property
    def participants(self) -> Sequence[str]:
        """Participants with values of their own, by name."""
        return ()

    @property
    def special_roles(self) -> Sequence[str]:
        """Roles whose calls have values of their own."""
        return ()

    @property
    def special_deadlines(self) -> Sequence[str]:
        """Roles and turns whose calls have deadlines of their own."""
        return ()

    @property
    def fallbacks(self) -> Sequence[Mapping[str, Any]]:
        """Models to call in turn if this one is unreachable, each given by its differences."""
        return ()

    @property
    def price(self) -> Price | None:
        """Price of the model; None if unknown, or if the replies report their cost."""
        return None

    @property
    def address(self) -> str | None:
        """Address of the model; None if unknown or not on a network."""
        return None

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the API key; None if there is none."""
        return None


class ProviderConfig(ModelConfig):
    """Base of every provider's values, as needed by the wrappers around a provider."""

    temperature: Annotated[float, Field(ge=0)] | None
    """Sampling temperature; null uses the provider's default."""
    effort: Annotated[ThinkingEffort | None, Usual(None)] = None
    """How much the model thinks; null uses the provider's default."""
    thinking_tokens: Annotated[Positive | None, Usual(None)] = None
    """Maximum thinking tokens, for models that take such a budget; null sets none."""
    thinking_format: Annotated[ThinkingFormat, Usual("auto")] = ThinkingFormat.AUTO
    """The name of the thinking switch in OpenAI's format."""
    text_of_thinking: Annotated[Literal["keep", "drop"], Operational] = "keep"
    """Whether `calls.jsonl` keeps the text of thoughts, if a server returns it."""
    max_tokens: Positive
    """Maximum answer length in tokens; thinking tokens are extra."""
    max_tokens_per_agent: Annotated[int, Field(ge=0)]
    """Extra tokens for each agent beyond the first that the answer has a plan for."""
    sampling_seed: Annotated[int, Field(ge=0, lt=2**63)] | None
    """Sampling seed, sent to providers that accept one."""
    top_p: Annotated[Annotated[float, Field(gt=0, le=1)] | None, Usual(None)] = None
    """Probability mass from which tokens are sampled; null uses the provider's default."""
    stop: Annotated[Texts | None, Usual(None)] = None
    """Strings at which an answer ends; null: none."""
    extra_body: Annotated[Mapping[str, Any], AfterValidator(free_fields), Usual({})] = {}
    """Fields of the request body that only this provider knows."""
    extra_headers: Annotated[Mapping[str, str], AfterValidator(harmless_headers), Usual({})] = {}
    """Headers sent with every request; never an API key."""
    structured: Structured
    """How JSON answers are requested."""
    grounded_schema: bool
    """Whether the answer schema names what exists in its turn: the remaining blocks, the agents."""
    longest_text: Annotated[Positive | None, Usual(None)] = None
    """Maximum characters of each string in an answer, set in its schema; null: the schema's own limit."""
    longest_list: Annotated[Positive | None, Usual(None)] = None
    """Maximum entries of each list in an answer; lists with one entry per agent keep that length."""
    max_tokens_key: Annotated[MaxTokensKey, Operational]
    """The name of the field for maximum answer length in OpenAI's format."""
    prompt_cache: Annotated[bool, Operational]
    """Whether to mark the beginnings of prompts for the provider's own cache, if it has one."""
    deadline: Annotated[Seconds, Operational]
    """Maximum total seconds of one attempt."""
    deadlines: Annotated[Mapping[str, Seconds], Operational] = {}
    """The same for some calls: by role, or by turn (`quorum.agents.prompting.requests.TURNS`)."""
    connect_timeout: Annotated[Seconds, Operational]
    """Maximum seconds to open a connection."""
    first_byte_timeout: Annotated[Seconds | None, Operational]
    """Maximum seconds from the request to the first byte of its answer; null: only the deadline applies."""
    max_reply_bytes: Annotated[Positive, Operational]
    """Maximum size of an HTTP reply in bytes, both as received and decompressed."""
    tries: Annotated[Positive, Operational]
    """Maximum attempts of one call."""
    rate_limited_tries: Annotated[Positive, Operational]
    """Maximum attempts of one call that hit a rate limit."""
    max_wait: Annotated[float, Field(ge=0), Operational]
    """Maximum total seconds that one call may wait between its attempts."""
    max_concurrency: Annotated[Positive, Operational]
    """Maximum concurrent requests."""
    requests_per_minute: Annotated[Rate, Operational]
    """Rate limit; null: none."""
    tokens_per_minute: Annotated[Rate, Operational]
    """Rate limit; null: none."""
    cache: Annotated[bool | Literal["auto"], Operational]
    """Whether answers are cached on disk; auto: only at temperature 0."""
    cache_path: Annotated[str | None, Operational]
    """Cache file; null: in the user's cache folder."""
    fallback: Annotated[tuple[Mapping[str, Any], ...], Usual([])] = ()
    """Models to call in turn if this one is unreachable, each given by its differences."""
    agents: Mapping[str, Mapping[str, Any]]
    """Values that differ for single participants, by name."""
    roles: Annotated[Mapping[str, Mapping[str, Any]], Usual({})] = {}
    """Values that differ for the calls of a role, by its name; the values of an agent take precedence."""

    @property
    def thinks(self) -> bool:
        """Whether the model, with these settings, reasons before it answers."""
        return False

    def writes_thoughts(self, participant: str, role: str) -> bool:  # noqa: ARG002 (ReplayConfig uses them)
        """Whether its answers start with its thoughts: not if it reasons by itself, nor if texts must be short."""
        return self.longest_text is None and not self.thinks

    @property
    def caches(self) -> bool:
        """Whether answers are cached on disk."""
        return self.temperature == 0 if self.cache == "auto" else self.cache

    @property
    def priced(self) -> bool:
        """Whether the replies report their cost although the model has no price."""
        return False

    @property
    def participants(self) -> Sequence[str]:
        """Participants with values of their own, by name."""
        return tuple(self.agents)

    @property
    def special_roles(self) -> Sequence[str]:
        """Roles whose calls have values of their own."""
        return tuple(self.roles)

    @property
    def special_deadlines(self) -> Sequence[str]:
        """Roles and turns whose calls have deadlines of their own."""
        return tuple(self.deadlines)

    @property
    def fallbacks(self) -> Sequence[Mapping[str, Any]]:
        """Models to call in turn if this one is unreachable, each given by its differences."""
        return self.fallback


def is_operational(key: str) -> bool:
    """Whether a key is `Operational`, as `llm.tries`, `llm.agents.agent_0.tries`, `llm.deadlines.critic`."""
    found = _KEY.match(key)
    field = ProviderConfig.model_fields.get(found[1]) if found is not None else None
    return field is not None and Operational in field.metadata
