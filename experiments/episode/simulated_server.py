"""`quorum serve-simulated`: the simulated model behind real HTTP."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from maeil.user_errors import UserError, choices_hint
from quorum.agents.llm.server import Addresses, Fault, FaultKind, Thinking, run
from quorum.agents.simulated import NAME, SimulatedModel
from quorum.experiments.configuration.compose import compose
from quorum.experiments.configuration.schema import validate


def serve(
    arguments: Sequence[str],
    echo: Callable[[str], None],
    *,
    port: int,
    faults: Sequence[str],
    latency: float,
    context: int | None,
    prompt_cache: bool,
    thinking: int | None = None,
    empty: tuple[float, float] = (0.0, 0.0),
) -> None:
    """Serve until the process is interrupted.

    Args:
        arguments: `llm.KEY=VALUE`: values of the simulated model.
        echo: prints the addresses, and commands to try.
        port: 0 for any free one.
        faults: `FAULT=RATE` each: the share of the requests that fail so.
        latency: seconds that every answer takes.
        context: tokens of the model's context; None for any number.
        thinking: tokens of thoughts before an answer, at the usual effort; None for a model that does not think.
        empty: shares of the answers that hold nothing but thoughts: ended by the model, and by its longest answer.
        prompt_cache: whether the prompt caches of OpenAI and Anthropic are played.

    Raises:
        UserError: there is no such fault or value, or the port is taken.
    """
    if strangers := [argument for argument in arguments if not argument.startswith("llm.")]:
        raise UserError(f"{strangers[0]!r}: a server takes values of the simulated model", "For example: llm.poor=0.2")
    brain = SimulatedModel(validate(compose(["llm=simulated", *arguments])).llm)  # type: ignore[arg-type] # by its name
    planned = _Planned(_rates(faults))
    how = _thinking(thinking, *empty)
    try:
        run(
            brain,
            port=port,
            faults=planned,
            latency=latency,
            context=context,
            thinking=how,
            prompt_cache=prompt_cache,
            ready=lambda found: echo(_greeting(found)),
        )
    except OSError as error:
        raise UserError(f"--port {port}: {error.strerror or error}", "Give another one, or 0 for any.") from error


def _thinking(tokens: int | None, empty_stop: float, empty_length: float) -> Thinking | None:
    if tokens is None and not (empty_stop or empty_length):
        return None
    if tokens is None:
        raise UserError("--empty-stop, --empty-length: only a model that thinks ends so", "Add --thinking 200.")
    try:
        return Thinking(tokens, empty_stop, empty_length)
    except ValueError as error:
        raise UserError(f"--thinking, --empty-stop, --empty-length: {error}") from error


def _rates(faults: Sequence[str]) -> Mapping[FaultKind, float]:
    rates = {}
    for text in faults:
        name, _, share = text.partition("=")
        if name not in list(FaultKind):
            raise UserError(f"--faults {text}: there is no fault {name!r}", choices_hint(name, "Faults", FaultKind))
        try:
            rates[FaultKind(name)] = float(share)
        except ValueError:
            raise UserError(f"--faults {text}: {share!r} is not a number", f"For example: {name}=0.1") from None
    if any(rate < 0 for rate in rates.values()) or sum(rates.values()) > 1:
        raise UserError("--faults: rates are at least 0, and at most 1 together")
    return rates


class _Planned:
    """Draws the fault of each request by its number, so that equal runs meet equal faults."""

    def __init__(self, rates: Mapping[FaultKind, float]) -> None:
        self._rates = rates

    def __call__(self, number: int) -> Fault | None:
        drawn = random.Random(number).random()
        for kind, rate in self._rates.items():
            if drawn < rate:
                return Fault(kind)
            drawn -= rate
        return None


def _greeting(addresses: Addresses) -> str:
    team = "quorum run agents=naive topology=debate n=4"
    return "\n".join(
        (
            "The simulated model is served, and no real one. Ctrl-C ends it.",
            f"  OpenAI's format:    {addresses.openai}",
            f"  Anthropic's format: {addresses.anthropic}",
            "Try:",
            f"  {team} llm=openai llm.base_url={addresses.openai} llm.model={NAME} llm.api_key_env=null",
            f"  {team} llm=anthropic llm.base_url={addresses.anthropic} llm.model={NAME} llm.api_key_env=null",
        )
    )
