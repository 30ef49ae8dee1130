"""The options of `quorum export --to sft`."""

from __future__ import annotations

from typing import Annotated, Any

from quorum.verbs import options


def sft(
    *,
    agents: Annotated[
        str, options.value("--agents", "NAME,...", "Export only answers of these agents.", unset="all agents")
    ] = "",
    turns: Annotated[
        str,
        options.value("--turns", "plan,talk,...", "Export only answers in these kinds of turns.", unset="all turns"),
    ] = "",
    best: Annotated[
        int | None,
        options.value(
            "--best", "SAMPLES", "Export only so many draws of each board and arm.", unset="all draws", min=1
        ),
    ] = None,
    prompts: Annotated[
        str,
        options.value(
            "--prompts", "NAME", "Write the turns again with these prompts.", unset="the prompts that models got"
        ),
    ] = "",
    split: Any = None,
) -> Any:
    """--to sft writes examples for supervised fine-tuning, and a card: a prompt and its answer in each line of JSON.

    The answers are those that the team accepted. --best keeps the draws that succeeded in the fewest steps. --prompts
    plays each run again, without a model, to write its turns with another set of prompts: so a team of rules becomes a
    teacher.

    \b
    Examples:
      quorum export runs/talk --to sft --where outcome.success --best 1
      quorum export runs/talk --to sft --turns talk --split boards=0.2
      quorum export runs/talk --to sft --prompts short
    """
    from quorum.train.sft import Sft

    wanted = (frozenset(filter(None, text.split(","))) for text in (agents, turns))
    return Sft(*wanted, best=best, prompts=prompts, split=split)
