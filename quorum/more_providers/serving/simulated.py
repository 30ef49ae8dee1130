"""`quorum serve-simulated`: the simulated model over HTTP."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from quorum.agents.simulated import NAME
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.more_providers.serving.app import FAILURES, Addresses, App, Failure, run
from quorum.storage.files import os_errors
from quorum_base.user_errors import UserError, choices_hint


def serve_simulated(
    arguments: Sequence[str], echo: Callable[[str], None], *, port: int, faults: Sequence[str], latency: float
) -> None:
    """Serve the simulated model until the process is interrupted.

    Args:
        arguments: values of the simulated model, as `llm.KEY=VALUE`.
        echo: prints the addresses and example commands.
        port: the port; 0 for any free one.
        faults: `FAULT=RATE` each: the share of requests that fail in this way.
        latency: seconds per answer.

    Raises:
        UserError: a fault or value does not exist, or the port is taken.
    """
    others = [argument for argument in arguments if not argument.startswith("llm.")]
    if others:
        raise UserError(f"{others[0]!r}: the server takes only values of its model", "For example: llm.poor=0.2")
    brain = SimulatedModel(Cell.compose(["llm=simulated", *arguments]).configuration.llm)  # type: ignore[arg-type] # by its name
    app = App(brain, latency=latency, failing=_failing(faults))
    with os_errors(f"--port {port}", "Give another one, or 0 for any."):
        run(app, port=port, ready=lambda found: echo(_greeting(found)))


def _failing(faults: Sequence[str]) -> Callable[[int], Failure | None]:
    """Return a function that draws a request's fault from its number, so that equal runs meet equal faults."""
    rates = {}
    for text in faults:
        name, _, share = text.partition("=")
        if name not in FAILURES:
            raise UserError(f"--faults {text}: there is no fault {name!r}", choices_hint(name, "Faults", FAILURES))
        try:
            rates[name] = float(share)
        except ValueError:
            raise UserError(f"--faults {text}: {share!r} is not a number", f"For example: {name}=0.1") from None
    if not (all(rate >= 0 for rate in rates.values()) and sum(rates.values()) <= 1):  # also rejects NaN
        raise UserError("--faults: rates are at least 0, and at most 1 together")
    ends = [*(FAILURES[name] for name in rates), None]
    weights = [*rates.values(), 1 - sum(rates.values())]
    return lambda number: random.Random(number).choices(ends, weights)[0]


def _greeting(addresses: Addresses) -> str:
    team = "quorum run agents=naive topology=debate n=4"
    return "\n".join(
        (
            "Serving the simulated model, which is no real one. Press Ctrl-C to stop.",
            f"  OpenAI's format:    {addresses.openai}",
            f"  Anthropic's format: {addresses.anthropic}",
            "Try:",
            f"  {team} llm=openai llm.base_url={addresses.openai} llm.model={NAME} llm.api_key_env=null",
            f"  {team} llm=anthropic llm.base_url={addresses.anthropic} llm.model={NAME} llm.api_key_env=null",
        )
    )
