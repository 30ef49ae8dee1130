"""Replaces paid models with the simulated model at their prices, to estimate what they would cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quorum.agents.llm.spending import Spent
from quorum.configuration.edits import edited
from quorum.configuration.leaves import leaves
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.configuration.schema import Configuration, validate

WITHOUT_MIND = ("random", "echo")
"""Providers without a mind: random answers, and copies of the example in the prompt."""
_SHORT = "short/turn.jinja"
"""The template of `prompts=short`, whose data only a trained model reads."""
NO_MODELS = ("simulated", *WITHOUT_MIND)
"""Providers without a model: rules, and those without a mind."""


def models_in(configuration: Configuration) -> Sequence[ModelConfig]:
    """Return the models that a configuration's minds may call, the default one first; empty if they call none."""
    c = configuration
    if not c.uses_models:
        return ()
    own = [c.llm_of(name) for name in c.llm.participants]
    return (c.llm, *own, *(c.llm_of("", role) for role in c.llm.special_roles))


def asks_real_models(configuration: Configuration) -> bool:
    """Whether minds call a real model, not only rules, random answers or copies."""
    return any(model.name not in NO_MODELS for model in models_in(configuration))


def substituted(configuration: Configuration, names: Sequence[str] = (), config_dir: ConfigDir = ()) -> Configuration:
    """Return a configuration in which the simulated model answers at the prices of its models.

    It samples unless the models have temperature 0. It cannot read `prompts=short` and plays with `prompts=terse`,
    whose prompts are longer.

    Args:
        configuration: configuration of an episode with paid models.
        names: participants whose models may have prices of their own.
        config_dir: folders with more group options.
    """
    plain = configuration.to_json()
    readable = ["prompts=terse"] if _SHORT in (value for _, value in leaves(plain)) else []
    plain = edited(plain, ["llm=simulated", *readable], config_dir)
    plain["llm"] |= {
        **_values(configuration.llm),
        "agents": {name: _values(configuration.llm_of(name)) for name in names},
        "roles": {role: _values(configuration.llm_of("", role)) for role in configuration.llm.special_roles},
    }
    return validate(plain, recorded=True)


def _values(model: ModelConfig) -> dict[str, Any]:
    price, sampled = (model.price, model.temperature != 0) if isinstance(model, ProviderConfig) else (None, True)
    read, written = (price.input, price.output) if price is not None else (0.0, 0.0)
    found = {"usd_per_million_prompt": read, "usd_per_million_completion": written}
    return found if sampled else {**found, "temperature": 0.0}


def estimated(spent: Spent) -> dict[str, Any]:
    """Return the simulated model's spending in place of paid models, as JSON-ready data; None for unknown prices."""
    usd = round(spent.usd, 6) if spent.usd or not spent.answers else None
    return {"answers": spent.answers, "tokens": spent.tokens, "usd": usd, "estimated_from": "the simulated model"}
