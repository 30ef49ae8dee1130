"""`quorum serve-simulated`: the simulated model behind HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from quorum.experiments.common.terminal import echo
from quorum.experiments.verbs.options import Overrides, Port


def serve_simulated(
    overrides: Overrides = None,
    *,
    port: Port = 8008,
    faults: Annotated[
        list[str] | None,
        typer.Option(
            "--faults",
            metavar="FAULT=RATE",
            show_default="no faults",
            help="Fail this share of requests, from 0 to 1. May be repeated.",
        ),
    ] = None,
    latency: Annotated[
        float, typer.Option("--latency", metavar="SECONDS", help="Take this many seconds for each answer.")
    ] = 0.0,
    context: Annotated[
        int | None,
        typer.Option(
            "--context",
            metavar="TOKENS",
            min=1,
            show_default="no limit",
            help="Refuse prompts with more tokens than this, including the longest answer.",
        ),
    ] = None,
    thinking: Annotated[
        int | None,
        typer.Option(
            "--thinking",
            metavar="TOKENS",
            min=1,
            show_default="no thoughts",
            help="Think for this many tokens before each answer.",
        ),
    ] = None,
    empty_stop: Annotated[
        float,
        typer.Option(
            "--empty-stop", metavar="RATE", help="End this share of answers, from 0 to 1, after the thoughts."
        ),
    ] = 0.0,
    empty_length: Annotated[
        float,
        typer.Option(
            "--empty-length",
            metavar="RATE",
            help="Spend all tokens of this share of answers, from 0 to 1, on thoughts.",
        ),
    ] = 0.0,
    prompt_cache: Annotated[
        bool,
        typer.Option(
            "--prompt-cache",
            help="Simulate the prompt caches of OpenAI and Anthropic, and report their reads in the usage.",
        ),
    ] = False,
) -> None:
    """Serve the simulated model over HTTP, in the formats of OpenAI and of Anthropic, until Ctrl-C.

    This is for tests and demonstrations: real clients and real HTTP without a model. `quorum list llm` shows the values
    of the simulated model; `--faults help` lists the faults.

    \b
    Examples:
      quorum serve-simulated
      quorum serve-simulated --port 9000 --latency 0.5
      quorum serve-simulated llm.malformed=0.1 --faults rate_limit=0.1
      quorum serve-simulated --thinking 400 --empty-length 0.1
    """
    from quorum.experiments.episode.simulated_server import serve

    serve(
        overrides or [],
        echo,
        port=port,
        faults=faults or [],
        latency=latency,
        context=context,
        thinking=thinking,
        empty=(empty_stop, empty_length),
        prompt_cache=prompt_cache,
    )
