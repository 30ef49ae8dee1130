"""Records the episode of a real model that the tests replay: `python -m tests.real_model.record`, from the checkout.

It needs the packages of `make real` and a minute. Record again after a change that is meant to change what a model is
asked, or what a trace says of it; then look at what it plays: an episode in which no answer is whole shows little.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.conftest import EXAMPLES

FOLDER = Path(__file__).resolve().parent / "recorded"
KEPT = ("calls.jsonl", "trace.jsonl")
"""Files of the episode that are kept: what the model was asked and said, and what came of it."""
EPISODE = (
    *("env=cube", "n=2", "env.side=8", "env.blocks={1: 2}", "topology=debate", "prompts=default"),
    *("max_steps=6", "max_repairs=1", "budget.calls=6"),
)
DRAWN = ("llm.max_tokens=200", "llm.temperature=0.7", "llm.sampling_seed=3")
"""How its answers were drawn: at temperature 0 so small a model says the same again and again."""


def record() -> None:
    """Play the episode with the real model, and keep it in the place of the one before."""
    from tests.real_model.serving import play, real_model

    with tempfile.TemporaryDirectory() as out, real_model() as address:
        result = play(address, Path(out), *EPISODE, *DRAWN)
        for name in KEPT:
            shutil.copyfile(result.folder / name, FOLDER / name)
    counts = {name: result.metrics[name] for name in ("model.answers", "model.parse_failures")}
    sys.stdout.write(f"{result.outcome} {result.reason}: {counts}\n")


if __name__ == "__main__":
    sys.path.insert(0, str(EXAMPLES))
    record()
