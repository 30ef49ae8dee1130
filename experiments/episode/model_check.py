"""One tiny request to a language model: does it answer, in the form that is asked for?"""

from __future__ import annotations

import asyncio

from maeil.user_errors import UserError
from quorum.agents.llm.embeddings import EMBEDDINGS
from quorum.agents.llm.errors import AnswerInvalid, LanguageModelError
from quorum.agents.llm.prices import Priced
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Reply, Request
from quorum.agents.llm.stack import build_stack
from quorum.experiments.configuration.providers import replay
from quorum.experiments.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.experiments.episode.model_pool import ModelPool, model_hint
from quorum.experiments.episode.models import sampling_of

FORM = AnswerFormat(
    "check",
    {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    },
)
PROMPT = 'Answer with this JSON object and nothing else: {"ok": true}'


def try_model(config: ModelConfig, *, embeds: bool = False) -> tuple[bool, str]:
    """Ask once, without retries; say whether it works, and what was found or how to fix it.

    Args:
        config: of the model.
        embeds: whether it is asked for embeddings.
    """
    try:
        if isinstance(config, replay.ReplayConfig):
            replay.build(config, None)
            return True, f"the calls of {config.run} can be replayed"
        assert isinstance(config, ProviderConfig)
        return True, _found(config, asyncio.run(_ask(config, EMBEDDINGS if embeds else FORM)))
    except UserError as error:
        return False, f"{error.message.removeprefix('llm: ')}. {error.hint}".strip()
    except LanguageModelError as error:
        what = f"no structured output: {error}" if isinstance(error, AnswerInvalid) else str(error)
        return False, f"{config.label}: {what.removesuffix('.')}. {model_hint(error, config)}".strip()


async def _ask(config: ProviderConfig, form: AnswerFormat) -> Reply:
    pool = ModelPool()
    try:
        found = pool.client(config).model
        price = config.price or found.price
        priced = found if price is None else Priced(found, price)
        model = build_stack(priced, name=config.label, max_repairs=0)
        return await model.complete(Request((ChatMessage(ChatRole.USER, PROMPT),), form, sampling_of(config)))
    finally:
        await pool.close()


def _found(config: ProviderConfig, reply: Reply) -> str:
    tokens = reply.usage.prompt + reply.usage.completion
    money = "price unknown" if reply.usd is None else f"{reply.usd:.2g} USD"
    simulated = ", simulated" if reply.simulated else ""
    dropped = f", not taken: {', '.join(reply.not_sent)}" if reply.not_sent else ""
    return f"{config.label} answers in {reply.seconds:.1f} s with {tokens} tokens, {money}{dropped}{simulated}"
