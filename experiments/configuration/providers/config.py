"""The values of the group `llm`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from maeil.component import ComponentConfig, Usual
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Effort
from quorum.agents.llm.providers.offer import MaxTokensKey, Structured
from quorum.agents.llm.providers.thinking import ThinkingFormat
from quorum.experiments.configuration.providers.extras import free_fields, harmless_headers


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
    effort: Annotated[Effort | None, Usual(None)] = None
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
    """What differs for the calls of a role, by its name; what an agent has of its own goes before it."""

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
