"""Requests to language models and their replies: the only types that providers and wrappers exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from quorum.agents.llm.pictures import Picture


class ChatRole(StrEnum):
    """Author of a message of a prompt."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt.

    Attributes:
        role: its author.
        content: its text.
        marks: character offsets, ascending, at which parts likely to recur in later prompts end. Providers cache the
            prompt up to there. Not part of the message's identity.
        pictures: pictures that accompany the text, for vision models.
        carried: for an answer of an earlier turn, the data its provider wants back: `Reply.carried`, unchanged.
    """

    role: ChatRole
    content: str
    marks: tuple[int, ...] = field(default=(), compare=False)
    pictures: tuple[Picture, ...] = ()
    carried: tuple[Mapping[str, Any], ...] = ()


class ThinkingEffort(StrEnum):
    """How much a model thinks before it answers, from not at all to the maximum; few models accept every level."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Structured(StrEnum):
    """How to request the schema of an answer.

    `AUTO` starts with `SCHEMA` and moves on to the next way once the server has refused that twice.
    """

    AUTO = "auto"
    SCHEMA = "schema"
    TOOLS = "tools"
    PROMPT = "prompt"


class MaxTokensKey(StrEnum):
    """Name of the output token limit in OpenAI's format. `AUTO` switches to the other name after two refusals."""

    AUTO = "auto"
    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


class ThinkingFormat(StrEnum):
    """Name of the thinking switch in a server's dialect of OpenAI's format.

    Sources, read on 2026-11-23: openai 3.52 (`reasoning_effort`); docs.vllm.ai and vllm-project/vllm#43401;
    docs.ollama.com/openai; ggml-org/llama.cpp, tools/server; openrouter.ai/docs, reasoning tokens;
    api-docs.deepseek.com/guides/thinking_mode; docs.litellm.ai, reasoning content; docs.sglang.io, thinking budget
    (2026-11-26).
    """

    AUTO = "auto"
    """Chosen by address: DeepSeek's and OpenRouter's own dialects, else OpenAI's."""
    OPENAI = "openai"
    """`reasoning_effort`."""
    VLLM = "vllm"
    """`reasoning_effort`, also as an argument of the chat template, and `thinking_token_budget`."""
    SGLANG = "sglang"
    """`reasoning_effort`, and the switch and a budget for the chat template, which may honour them."""
    OLLAMA = "ollama"
    """`reasoning_effort`."""
    LLAMACPP = "llamacpp"
    """`chat_template_kwargs`, and the budget under both names used by its versions."""
    DEEPSEEK = "deepseek"
    """`thinking` and `reasoning_effort`."""
    OPENROUTER = "openrouter"
    """`reasoning`, with an effort or a token count."""
    LITELLM = "litellm"
    """`reasoning_effort` or `thinking`, which LiteLLM translates for its providers."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters. Numbers keep the form in which they were recorded: 0 and 0.0 give different keys.

    None leaves a parameter to the provider. Parameters that a provider does not accept are recorded as not sent.

    Attributes:
        temperature: sampling temperature.
        max_tokens: longest answer, in tokens; the allowance for thinking is added on top.
        seed: for providers that accept one.
        effort: how much the model thinks.
        thinking_tokens: budget of thinking tokens, for models that accept one.
        room_factor: multiplier of the token allowance for thoughts and answer when an empty answer is requested
            again; None: 1.
        top_p: nucleus sampling: share of the probability mass from which tokens are drawn.
        stop: texts that end an answer.
        extra_body: provider-specific fields of the request body, sent unchecked.
        longest_text, longest_list: caps that `quorum.agents.llm.caps` applies to texts and lists of the answer schema.
    """

    temperature: int | float | None
    max_tokens: int
    seed: int | None = None
    effort: ThinkingEffort | None = None
    thinking_tokens: int | None = None
    room_factor: int | None = None
    top_p: int | float | None = None
    stop: tuple[str, ...] | None = None
    extra_body: Mapping[str, Any] | None = None
    longest_text: int | None = None
    longest_list: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The JSON schema that an answer must follow.

    Attributes:
        name: short identifier of the schema.
        schema: JSON schema, an object at its top.
        in_words: whether the prompt describes the schema; then providers without schema support do not add it as text.
        grounded: makes the schema of this turn, which names existing entities; None if there is none. It replaces
            `schema` if `llm.grounded_schema` is set.
    """

    name: str
    schema: Mapping[str, Any]
    in_words: bool = False
    grounded: Callable[[], Mapping[str, Any]] | None = field(default=None, compare=False, repr=False)

    def ground(self) -> AnswerFormat:
        """Return the format with the schema of this turn."""
        return self if self.grounded is None else replace(self, schema=self.grounded(), grounded=None)

    def changed(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> AnswerFormat:
        """Return the format with `change` applied to both schemas; `grounded` is changed when it is made."""
        own = self.grounded
        grounded = None if own is None else lambda: change(own())
        return replace(self, schema=change(self.schema), grounded=grounded)


@dataclass(frozen=True, slots=True)
class Origin:
    """The sender and time of a request: for records, never for the model.

    Attributes:
        agent: name of the participant.
        t: environment step.
        role: the participant's role; empty if it has none.
        turn: kind of turn, from `quorum.agents.prompting.requests.TURNS`; empty if unknown.
    """

    agent: str
    t: int
    role: str = ""
    turn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that reaches a model; equal requests have equal cache keys.

    Attributes:
        messages: the prompt, in order; system messages first.
        answer: schema of the answer; None for free text.
        sampling: sampling parameters.
        sample: index of this sample among repeated samples of the same prompt; each has its own cache entry.
        agents: maximum number of agents that the answer plans for; the output token limit grows with it. Not part of
            the request's identity, because the sampling covers it.
        origin: sender and time; not part of the request's identity.
        deadline: time limit of one attempt in seconds; None: the provider's. Not part of the request's identity.
        carry: whether later prompts will contain the answer, so that `Reply.carried` must come with it.
    """

    messages: tuple[ChatMessage, ...]
    answer: AnswerFormat | None
    sampling: Sampling
    sample: int = 0
    agents: int = field(default=1, compare=False)
    origin: Origin | None = field(default=None, compare=False)
    deadline: float | None = field(default=None, compare=False)
    carry: bool = False


class Finish(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as reported by the provider.

    Attributes:
        prompt: tokens read, including cached ones and those written to a cache.
        completion: tokens written, including thoughts.
        cached: tokens read from the provider's prompt cache.
        cache_written: tokens read and written to that cache.
        estimated: whether a count is our own estimate because the provider reported none.
        reasoning: the thinking tokens among `completion`.
        reasoning_estimated: whether only that count is our own estimate, from the text of the thoughts.
    """

    prompt: int
    completion: int
    cached: int = 0
    cache_written: int = 0
    estimated: bool = False
    reasoning: int = 0
    reasoning_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer that did not match the schema and that the model was asked to fix.

    Attributes:
        text: the answer as written.
        reasons: what was wrong with it.
    """

    text: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """The log-probability of a token of an answer, and those of the alternatives that the service lists.

    Attributes:
        token: text of the token.
        logprob: its natural log-probability, given everything before it.
        top: log-probabilities of the most probable tokens in its place, by text.
    """

    token: str
    logprob: float
    top: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    Attributes:
        text: the answer as written.
        value: the answer as JSON, once a wrapper or the provider has parsed it; None before.
        finish: why the model stopped.
        usage: tokens of all answered attempts.
        usd: cost of all answered attempts; None if a price is unknown, never 0 for unknown.
        seconds: wall time of the call, including retries and waits.
        model: the model's name as reported by the provider.
        attempts: HTTP requests made.
        repairs: number of repeated requests because the answer was not valid JSON of the schema.
        widened: number of repeated requests with a higher token limit because the answer was empty.
        cache_hit: whether our cache answered.
        unusable: earlier replies that were paid for but held no answer; this reply includes their tokens and cost.
        not_sent: sampling parameters that the provider does not accept.
        form: how the schema was requested, from `Structured`; empty for free text and if unknown.
        reduced: schema methods and fields left out of the request because the service has refused them.
        simulated: whether a simulated model answered.
        fallback: the model that answered because the chosen one was unreachable; empty if the chosen one answered.
        rejected: earlier answers that did not match the schema, in order.
        thinking: text of the model's thoughts, if the provider returns it and it is kept; not part of the answer.
        tier: service tier that answered; empty for the default tier. See `quorum.agents.llm.prices`.
        fingerprint: the service's identifier of the build that answered (`system_fingerprint`); empty if it sends none.
        carried: the provider's reasoning items as opaque JSON (signed or encrypted thoughts), to send back with this
            answer in later turns; empty without `Request.carry` and for providers that have none.
        logprobs: the tokens of the answer, if `extra_body` requests them and the service lists them.
    """

    text: str
    finish: Finish
    usage: Usage
    usd: int | float | None
    seconds: int | float
    model: str
    value: Any = None
    attempts: int = 1
    repairs: int = 0
    widened: int = 0
    cache_hit: bool = False
    unusable: int = 0
    not_sent: tuple[str, ...] = ()
    form: str = ""
    reduced: tuple[str, ...] = ()
    simulated: bool = False
    rejected: tuple[Rejected, ...] = ()
    fallback: str = ""
    thinking: str = ""
    tier: str = ""
    fingerprint: str = ""
    carried: tuple[Mapping[str, Any], ...] = ()
    logprobs: tuple[TokenLogprobs, ...] = ()


class Model(Protocol):
    """A language model, or a wrapper around one."""

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: there is no answer; the error says why.
        """
