"""`quorum serve-simulated`: the simulated model over HTTP."""

from __future__ import annotations

from typing import Annotated

from quorum.display.terminal import echo
from quorum.verbs import options
from quorum.verbs.verb import Verb


def serve_simulated(
    overrides: options.Overrides = None,
    *,
    port: options.Port = 8008,
    faults: Annotated[
        list[str] | None,
        options.values(
            "--faults",
            "FAULT=RATE",
            "Fail this share of requests, from 0 to 1: rate_limit, server_error, overloaded.",
            unset="no faults",
        ),
    ] = None,
    latency: Annotated[
        float, options.value("--latency", "SECONDS", "Take this many seconds for each answer.", min=0, max=86400)
    ] = 0.0,
) -> None:
    """Serve the simulated model over HTTP, in the formats of OpenAI and of Anthropic, until Ctrl-C.

    Use it to try your set-up with real clients and real HTTP, but without a model. `quorum list llm` shows the values
    of the simulated model.

    \b
    Examples:
      quorum serve-simulated
      quorum serve-simulated --port 9000 --latency 0.5
      quorum serve-simulated llm.malformed=0.1 --faults rate_limit=0.1
    """
    from quorum.more_providers.serving.simulated import serve_simulated as serve

    serve(overrides or [], echo, port=port, faults=faults or [], latency=latency)


verb = Verb(serve_simulated)
