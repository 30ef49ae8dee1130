"""Which model answers for a participant in a role: the values of `llm`, with those of the role and the participant.

Each of these models can have others that answer if it is unreachable (`llm.fallback`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.component import ComponentConfig
from maeil.mind import COORDINATOR
from quorum.configuration.checked_values import checked, component_values
from quorum.configuration.providers.config import OF_THE_GROUP, ModelConfig, ProviderConfig, layered
from quorum.configuration.registry import providers
from quorum_base.user_errors import UserError, choices_hint


def llm_of(values: Mapping[str, Any], participant: str, role: str) -> ModelConfig:
    """Return the values of a call's model: those of `llm`, overridden by the role's, then the participant's.

    Args:
        values: those of `llm`, as JSON.
        participant: the caller; empty: one without special values.
        role: role of the call; empty: one without special values.

    Raises:
        UserError: these values do not fit together.
    """
    found = [("roles", COORDINATOR)] if participant == COORDINATOR else []
    found += [("roles", role), ("agents", participant)]
    own = {f"llm.{group}.{name}.": values[group][name] for group, name in found if name in values.get(group, ())}
    if not own:
        return of_model(component_values(providers, {"llm": values}))
    for where, layer in own.items():
        _check_provider(layer, where)
        for key in OF_THE_GROUP:
            if key in layer:
                raise UserError(f"{where}{key}: set this once for all models: llm.{key}")
    merged = layered(values, list(own.values()), lambda name: providers.get(name).config.model_fields)
    schema = providers.get(merged["name"]).config
    return of_model(checked(schema, merged, list(own)[-1], known=list(schema.model_fields)))


def _check_provider(own: Mapping[str, Any], place: str) -> None:
    name = own.get("name")
    if name is not None and name not in providers.names():
        hint = choices_hint(str(name), "The providers", providers.names())
        raise UserError(f"{place}name: no provider is called {name!r}", hint)


def fallbacks_of(model: ModelConfig, where: str = "llm.") -> Sequence[ProviderConfig]:
    """Return the values of the models to call in turn if a model is unreachable.

    Args:
        model: the model.
        where: the start of its keys, for messages.

    Raises:
        UserError: the values of one do not fit together.
    """
    values = {**model.model_dump(mode="json"), "fallback": []}
    found = []
    for index, own in enumerate(model.fallbacks):
        place = f"{where}fallback.{index}."
        for key in (*OF_THE_GROUP, "fallback"):
            if key in own:
                raise UserError(f"{place}{key}: a fallback cannot have this key: llm.{key} is for the whole team")
        _check_provider(own, place)
        merged = layered(values, [own], lambda name: providers.get(name).config.model_fields)
        if merged == values:
            raise UserError(
                f"{place.rstrip('.')}: it asks the same model at the same address", "Give another model: model=NAME."
            )
        schema = providers.get(merged["name"]).config
        if not issubclass(schema, ProviderConfig):
            raise UserError(f"{place.rstrip('.')}: {merged['name']} cannot replace a model")
        found.append(checked(schema, merged, place, known=list(schema.model_fields)))
    return found


def check_models(values: Mapping[str, Any], model: ModelConfig) -> None:
    """Check the values of every model of the team, and of those that answer in its place.

    Args:
        values: those of `llm`, as JSON.
        model: the model of `llm`.

    Raises:
        UserError: the values of one do not fit together.
    """
    for participant in ("", *model.participants):
        for role in ("", *model.special_roles):
            of_role = f"llm.roles.{role}." if role else "llm."
            fallbacks_of(llm_of(values, participant, role), f"llm.agents.{participant}." if participant else of_role)


def of_model(values: ComponentConfig) -> ModelConfig:
    """Return the values of a model.

    Raises:
        TypeError: the provider's schema is none of a model.
    """
    if not isinstance(values, ModelConfig):
        raise TypeError(f"llm={values.name}: the values of a provider must be a ProviderConfig")
    return values
