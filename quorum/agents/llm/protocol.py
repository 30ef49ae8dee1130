"""What a language model is asked, and what comes back. Providers and wrappers all speak this and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from quorum.agents.llm.pictures import Picture


class ChatRole(StrEnum):
    """Who says a message of a prompt."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt.

    Attributes:
        role: who says it.
        content: its text.
        marks: where what may come again in later prompts ends, in characters from the beginning, rising. Providers keep
            the beginnings of prompts up to there; no part of the message's identity.
        pictures: that go with the text, for models that see.
        carried: of an answer of an earlier turn, what its provider wants back with it: `Reply.carried`, unchanged.
    """

    role: ChatRole
    content: str
    marks: tuple[int, ...] = field(default=(), compare=False)
    pictures: tuple[Picture, ...] = ()
    carried: tuple[Mapping[str, Any], ...] = ()


class ThinkingEffort(StrEnum):
    """How much a model thinks before it answers, from not at all to all that it can; few models take every level."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Structured(StrEnum):
    """How the form of an answer is asked for.

    `AUTO` begins with `SCHEMA`, and takes the next one where the server has refused that twice.
    """

    AUTO = "auto"
    SCHEMA = "schema"
    TOOLS = "tools"
    PROMPT = "prompt"


class MaxTokensKey(StrEnum):
    """What the longest answer is called in OpenAI's format. `AUTO` takes the other name where one is refused twice."""

    AUTO = "auto"
    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


class ThinkingFormat(StrEnum):
    """What the switch of thinking is called in a server's dialect of OpenAI's format.

    Sources, read on 2026-11-23: openai 3.52 (`reasoning_effort`); docs.vllm.ai and vllm-project/vllm#43401;
    docs.ollama.com/openai; ggml-org/llama.cpp, tools/server; openrouter.ai/docs, reasoning tokens;
    api-docs.deepseek.com/guides/thinking_mode; docs.litellm.ai, reasoning content; docs.sglang.io, thinking budget
    (2026-11-26).
    """

    AUTO = "auto"
    """By the address: DeepSeek's and OpenRouter's own, else OpenAI's."""
    OPENAI = "openai"
    """`reasoning_effort`."""
    VLLM = "vllm"
    """`reasoning_effort`, the same for the template of the chat, and `thinking_token_budget`."""
    SGLANG = "sglang"
    """`reasoning_effort`, and for the template of the chat the switch and a budget, which it may heed."""
    OLLAMA = "ollama"
    """`reasoning_effort`."""
    LLAMACPP = "llamacpp"
    """`chat_template_kwargs`, and the budget under both names that its versions know."""
    DEEPSEEK = "deepseek"
    """`thinking` and `reasoning_effort`."""
    OPENROUTER = "openrouter"
    """`reasoning`, with an effort or a number of tokens."""
    LITELLM = "litellm"
    """`reasoning_effort` or `thinking`, which LiteLLM translates for its providers."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the answer is drawn. Numbers keep the form in which they were recorded: 0 is not 0.0 in a key.

    What is None is left to the provider. A field that a provider does not take is recorded as not sent.

    Attributes:
        temperature: of the draw.
        max_tokens: longest answer, in tokens; room for thinking comes on top.
        seed: for providers that take one.
        effort: how much the model thinks.
        thinking_tokens: that the model may spend on thinking, for those that take a budget.
        room_factor: how many times the usual room there is for thoughts and answer, where it is asked again because
            its answer was empty; None: once.
        top_p: share of the probability from which tokens are drawn.
        stop: texts at which an answer ends.
        extra_body: fields of the request's body that its provider alone knows; they are sent whatever they are.
        longest_text, longest_list: what `quorum.agents.llm.caps` has brought the form of the answer down to.
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
    """The JSON that is wanted.

    Attributes:
        name: short identifier of the schema.
        schema: JSON schema, an object at its top.
        in_words: whether the prompt states the form; then a provider that takes no schema gets none in words either.
        grounded: makes the schema of this very turn, which names what exists; None where there is none. It stands in
            the place of the other where the configuration says so (`llm.grounded_schema`).
    """

    name: str
    schema: Mapping[str, Any]
    in_words: bool = False
    grounded: Callable[[], Mapping[str, Any]] | None = field(default=None, compare=False, repr=False)

    def ground(self) -> AnswerFormat:
        """Return the form with the schema of this very turn."""
        return self if self.grounded is None else replace(self, schema=self.grounded(), grounded=None)

    def changed(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> AnswerFormat:
        """Return the form with both of its schemas changed, that of this very turn when it is made."""
        own = self.grounded
        grounded = None if own is None else lambda: change(own())
        return replace(self, schema=change(self.schema), grounded=grounded)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who asks, and when: for records, never for the model.

    Attributes:
        agent: name of the participant.
        t: environment step.
        role: the role in which it is asked; empty where it has none.
        turn: what sort of turn it is, of `quorum.agents.prompting.requests.TURNS`; empty where nobody says.
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
        answer: the JSON that is wanted; None for free text.
        sampling: how the answer is drawn.
        sample: number of this draw among repeated draws of the same prompt; each has its own cache entry.
        agents: for how many agents the answer has a plan, at most; the longest answer grows with them. No part of the
            request's identity, to which the sampling belongs.
        origin: who asks, and when; no part of the request's identity.
        deadline: seconds that one attempt may take in all; None: those of the provider. No part of the identity.
        carry: whether the answer goes into the prompts of later turns, so that `Reply.carried` is wanted with it.
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
    """Tokens as the provider counted them.

    Attributes:
        prompt: tokens read, the cached ones and those written to a cache among them.
        completion: tokens written, thoughts included.
        cached: tokens read from the provider's own prompt cache.
        cache_written: tokens read and written into that cache.
        estimated: whether a count is our own estimate, since the provider gave none.
        reasoning: those of the tokens written that are thoughts.
        reasoning_estimated: whether that count alone is our own estimate, from the text of the thoughts.
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
    """An answer that was not of the wanted form, and that the model was asked to fix.

    Attributes:
        text: the answer as written.
        reasons: what was wrong with it.
    """

    text: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: the answer as written.
        value: the answer as JSON, where a wrapper or the provider has parsed it; None before.
        finish: why the model stopped.
        usage: tokens of all attempts that were answered.
        usd: money of all attempts that were answered; None when a price is unknown, never 0 for unknown.
        seconds: wall time of the call, its retries and waits among it.
        model: the model, as the provider names it.
        attempts: HTTP requests made.
        repairs: times the model was asked again because its answer was no valid JSON of the schema.
        widened: times the same was asked again with more room because the answer was empty.
        cache_hit: whether our cache answered.
        unusable: replies before it that were paid for and held no answer; their tokens and money are among its own.
        not_sent: sampling parameters that the provider does not take.
        form: how the form of the answer was asked for, of `Structured`; empty for free text, and where nobody says.
        reduced: what the request lacks since the service has refused it: ways to ask for the form, and fields.
        simulated: whether a simulated model gave it.
        fallback: the model that answered in the place of the one that was chosen, which could not be reached; empty
            where that one answered itself.
        rejected: the answers before this one that were not of the wanted form, in order.
        thinking: the text of its thoughts, where the provider returns it and it is kept; no part of the answer.
        tier: the tier of service that answered; empty for the usual one. See `quorum.agents.llm.prices`.
        fingerprint: what the service calls the build that answered (`system_fingerprint`); empty where it sends none.
        carried: reasoning items of the provider, as JSON that nobody else reads (signed or encrypted thoughts), to be
            sent back with this answer in later turns; nothing unless `Request.carry`, and where the provider has none.
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


class Model(Protocol):
    """A language model, or a wrapper around one."""

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: no answer came, and why.
        """
