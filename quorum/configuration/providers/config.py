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
"""Fields of the body of any format, and the key of the configuration that is for each."""
_INNER = {"chat_template_kwargs": frozenset({"enable_thinking", "thinking", "reasoning_effort", "thinking_budget"})}
"""Fields of maps in the body that are for thinking."""

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A token of RFC 9110, section 5.6.2."""
_OF_THE_CLIENT = frozenset(
    {"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "accept-encoding"}
)
_SCHEME = re.compile(r"(bearer|basic|digest|token|negotiate|apikey|aws4-\S+)\s", re.IGNORECASE)


def free_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return fields of a body that have no key of their own.

    Raises:
        ValueError: one of them has, which the message names; or a value looks like a key.
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
    """Return headers that hold no key and leave the client's own as they are.

    Raises:
        Withheld: one of them does not; its value is not shown.
    """
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or _is_secret(name):
            raise Withheld("a name is none that a header can have")
        if holds_key(name):
            raise Withheld(f"{name} may hold a key: keys come from the environment alone (llm.api_key_env)")
        if name.lower() in _OF_THE_CLIENT:
            raise Withheld(f"{name} is the client's own")
        if not (value.isascii() and value.isprintable()):
            raise Withheld(f"{name} has characters that no header has")
        if _is_secret(value):
            raise Withheld(f"{name} looks like a key: keys come from the environment alone (llm.api_key_env)")
    return headers


def _is_secret(text: str) -> bool:
    return looks_like_a_key(text) or _SCHEME.match(text) is not None


OWN = ("base_url", "api_key_env", "model", "prices", "service_tier")
"""Keys that belong to one provider: values with another provider do not inherit them."""
_WHO = ("name", *OWN)
"""Keys that say who answers."""
OF_THE_GROUP = ("agents", "roles")
"""Keys that stand in the group alone."""


def layered(
    values: Mapping[str, Any], layers: Sequence[Mapping[str, Any]], keys_of: Callable[[str], Mapping[str, Any]]
) -> dict[str, Any]:
    """Put values over those of the group `llm`, key by key, the last over all.

    Who answers is said in one place: by the last layer that names a model or a provider. So the address of a role's
    model is never asked for the model of an agent.

    Args:
        values: of the group.
        layers: what stands in their place.
        keys_of: returns the keys that a provider has, by its name.

    Returns:
        The values of one model, in which nobody else has values of their own.
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
        inherited["prices"] = None  # they were those of another model
    return {**inherited, **own}


class Operational:
    """Marks a field that changes how a model is reached, never what it is asked or who answers.

    Such fields are no part of a cell's hash: a sweep that is resumed with a lower concurrency finds its done cells.
    """


class Pricing:
    """Marks a field that changes what is reckoned for an answer, and nothing else.

    Such fields are part of a cell's hash where the episode has a budget of money alone, whose end they decide.
    """


Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]
Rate = Positive | None
Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]


class ModelConfig(ComponentConfig):
    """Base of the values of the group `llm`, whoever answers."""

    @property
    def label(self) -> str:
        """What stands for the model in names and tables."""
        return self.name

    def writes_thoughts(self, participant: str, role: str) -> bool:  # noqa: ARG002 (for what was recorded)
        """Whether its answers begin with its thoughts, where the prompts leave that open (`prompts.thoughts=auto`).

        Args:
            participant: who asks.
            role: in which it asks.
        """
        return True

    @property
    def participants(self) -> Sequence[str]:
        """Those that have values of their own, by name."""
        return ()

    @property
    def special_roles(self) -> Sequence[str]:
        """Those whose calls have values of their own."""
        return ()

    @property
    def special_deadlines(self) -> Sequence[str]:
        """The roles and turns whose calls have deadlines of their own."""
        return ()

    @property
    def fallbacks(self) -> Sequence[Mapping[str, Any]]:
        """What differs of the models that are asked when this one cannot be reached."""
        return ()

    @property
    def price(self) -> Price | None:
        """Price of the model; None where it is not known, or where the replies say what they cost."""
        return None

    @property
    def address(self) -> str | None:
        """Where the model is asked; None where that is not known, or not over a network."""
        return None

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key; None for no key."""
        return None


class ProviderConfig(ModelConfig):
    """Base of every provider's values: what the wrappers around a provider need of them."""

    temperature: Annotated[float, Field(ge=0)] | None
    """Sampling temperature; null leaves it to the provider."""
    effort: Annotated[ThinkingEffort | None, Usual(None)] = None
    """How much the model thinks; null leaves it to the provider."""
    thinking_tokens: Annotated[Positive | None, Usual(None)] = None
    """Tokens that it may spend on thinking, for models that take a budget; null sets none."""
    thinking_format: Annotated[ThinkingFormat, Usual("auto")] = ThinkingFormat.AUTO
    """What the switch of thinking is called in OpenAI's format."""
    text_of_thinking: Annotated[Literal["keep", "drop"], Operational] = "keep"
    """Whether the text of thoughts stands in `calls.jsonl`, where a server returns it."""
    max_tokens: Positive
    """Longest answer, in tokens; room for thinking comes on top."""
    max_tokens_per_agent: Annotated[int, Field(ge=0)]
    """Tokens more for each agent beyond the first that the answer has a plan for."""
    sampling_seed: Annotated[int, Field(ge=0, lt=2**63)] | None
    """Sent to providers that take one."""
    top_p: Annotated[Annotated[float, Field(gt=0, le=1)] | None, Usual(None)] = None
    """Share of the probability from which tokens are drawn; null leaves it to the provider."""
    stop: Annotated[Texts | None, Usual(None)] = None
    """Texts at which an answer ends; null: none."""
    extra_body: Annotated[Mapping[str, Any], AfterValidator(free_fields), Usual({})] = {}
    """Fields of the request's body that only this provider knows."""
    extra_headers: Annotated[Mapping[str, str], AfterValidator(harmless_headers), Usual({})] = {}
    """Headers sent with every request; never a key."""
    structured: Structured
    """How the JSON is asked for."""
    grounded_schema: bool
    """Whether the schema of an answer names what exists in its turn: the blocks that are left, the agents."""
    longest_text: Annotated[Positive | None, Usual(None)] = None
    """Characters of each text in an answer, at most, in its schema; null: as the form says."""
    longest_list: Annotated[Positive | None, Usual(None)] = None
    """Entries of each list in an answer, at most; lists that have an entry for each agent stay as long as those."""
    max_tokens_key: Annotated[MaxTokensKey, Operational]
    """What the longest answer is called in OpenAI's format."""
    prompt_cache: Annotated[bool, Operational]
    """Whether the beginnings of prompts are marked for the provider's own cache, where it has one."""
    deadline: Annotated[Seconds, Operational]
    """Seconds that one attempt may take in all."""
    deadlines: Annotated[Mapping[str, Seconds], Operational] = {}
    """The same for calls of a sort: by role, or by turn (`quorum.agents.prompting.requests.TURNS`)."""
    connect_timeout: Annotated[Seconds, Operational]
    """Seconds within which there must be a connection."""
    first_byte_timeout: Annotated[Seconds | None, Operational]
    """Seconds from the request to the first byte of its answer; null: the deadline alone."""
    max_reply_bytes: Annotated[Positive, Operational]
    """Longest reply over HTTP, in bytes, as it arrives and unpacked."""
    tries: Annotated[Positive, Operational]
    """Attempts of one call, at most."""
    rate_limited_tries: Annotated[Positive, Operational]
    """The same for attempts that meet a rate limit."""
    max_wait: Annotated[float, Field(ge=0), Operational]
    """Seconds that one call may wait between its attempts in all."""
    max_concurrency: Annotated[Positive, Operational]
    """Requests under way at once."""
    requests_per_minute: Annotated[Rate, Operational]
    """Cap; null: none."""
    tokens_per_minute: Annotated[Rate, Operational]
    """Cap; null: none."""
    cache: Annotated[bool | Literal["auto"], Operational]
    """Whether answers come from disk; auto: at temperature 0 alone."""
    cache_path: Annotated[str | None, Operational]
    """File of the cache; null: in the user's cache folder."""
    fallback: Annotated[tuple[Mapping[str, Any], ...], Usual([])] = ()
    """Models that are asked in turn when this one cannot be reached, each by what differs of it."""
    agents: Mapping[str, Mapping[str, Any]]
    """What differs for single participants, by name."""
    roles: Annotated[Mapping[str, Mapping[str, Any]], Usual({})] = {}
    """What differs for the calls of a role, by its name; the values of an agent take precedence."""

    @property
    def thinks(self) -> bool:
        """Whether the model thinks by itself before it answers, as it is asked here."""
        return False

    def writes_thoughts(self, participant: str, role: str) -> bool:  # noqa: ARG002 (for what was recorded)
        """Whether its answers begin with its thoughts: not if it thinks by itself, nor if texts have to be short."""
        return self.longest_text is None and not self.thinks

    @property
    def caches(self) -> bool:
        """Whether answers are kept on disk."""
        return self.temperature == 0 if self.cache == "auto" else self.cache

    @property
    def priced(self) -> bool:
        """Whether the replies say what they cost though the model has no price."""
        return False

    @property
    def participants(self) -> Sequence[str]:
        """Those that have values of their own, by name."""
        return tuple(self.agents)

    @property
    def special_roles(self) -> Sequence[str]:
        """Those whose calls have values of their own."""
        return tuple(self.roles)

    @property
    def special_deadlines(self) -> Sequence[str]:
        """The roles and turns whose calls have deadlines of their own."""
        return tuple(self.deadlines)

    @property
    def fallbacks(self) -> Sequence[Mapping[str, Any]]:
        """What differs of the models that are asked when this one cannot be reached."""
        return self.fallback
