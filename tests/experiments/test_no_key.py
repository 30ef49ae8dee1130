"""A server repeats the key in every field and header of its answers, and nothing that any verb writes holds it.

LiteLLM's part is in `tests/experiments/episode/test_wire.py`, which also runs where litellm is installed.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from tests.conftest import Quorum
from tests.loopback import Addresses
from tests.loopback.echoes import Echo, found_in
from tests.serving import served

VARIABLE = "QUORUM_TEST_KEY"
CANARY = "sk-canary-9b41f7d2a6c83e50"
OTHERS = {
    "WANDB_API_KEY": "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "MLFLOW_TRACKING_PASSWORD": "tracking-pass-77",
    "HTTPS_PROXY": "http://me:proxy-pass-4711@127.0.0.1:9",
}
SECRETS = (CANARY, OTHERS["WANDB_API_KEY"], OTHERS["MLFLOW_TRACKING_PASSWORD"], "proxy-pass-4711")
ENVIRONMENT = {VARIABLE: CANARY, "XDG_CACHE_HOME": "cache", "NO_PROXY": "127.0.0.1", **OTHERS}
TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=3")


def model_of(wire: str, addresses: Addresses, variable: str = VARIABLE) -> list[str]:
    """Give the words for a model behind a wire, which gets the key."""
    url = addresses.openai if wire.startswith("openai") else addresses.anthropic
    values = {"base_url": url, "model": "simulated", "api_key_env": variable, "cache": "true", "max_wait": "1"}
    return [f"llm={wire}", *(f"llm.{key}={value}" for key, value in values.items())]


@contextmanager
def hostile(**arguments: object) -> Iterator[tuple[Addresses, Echo]]:
    """Serve the simulated model behind a server that repeats the key."""
    made: list[Echo] = []
    plain = dict.fromkeys(SimulatedSettings.model_fields, 0.0)
    brain = SimulatedModel(SimulatedSettings(**{**plain, "seed": 0}))
    with served(brain, spoiled=lambda app: made.append(Echo(app)) or made[0], **arguments) as addresses:
        yield addresses, made[0]


def leaks(folder: Path, shown: Sequence[str]) -> list[str]:
    """Return where a secret is found, in whatever form: in files, in their members, and on the terminal."""
    found = [
        f"{name}: {form}"
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        for name, data in contents(file)
        for secret in SECRETS
        for form in found_in(data, secret)
    ]
    found += [
        f"shown: {form} in {text[:400]}" for text in shown for s in SECRETS for form in found_in(text.encode(), s)
    ]
    return found


def contents(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what a file holds, packed or not."""
    data = file.read_bytes()
    yield f"{file.name}", file.name.encode() + data
    if zipfile.is_zipfile(BytesIO(data)):
        with zipfile.ZipFile(BytesIO(data)) as packed:
            yield from ((f"{file.name}/{name}", packed.read(name)) for name in packed.namelist())
    if file.suffix == ".parquet":
        import duckdb

        yield f"{file.name} unpacked", str(duckdb.sql(f"select * from '{file}'").fetchall()).encode()


def play(quorum: Quorum, commands: Sequence[Sequence[str]]) -> list[str]:
    """Run commands; give what each has shown."""
    shown = []
    for words in commands:
        done = quorum(*words, **ENVIRONMENT)
        assert "Traceback" not in done.stderr, done.stderr
        shown += [done.stdout, done.stderr]
    return shown


def test_a_key_that_the_server_repeats_is_in_no_file_and_on_no_terminal(quorum: Quorum, tmp_path: Path) -> None:
    with hostile() as (addresses, echo):
        llm = model_of("openai", addresses)
        shown = play(
            quorum,
            [
                ["run", *TEAM, *llm, "--debug", "--out", "runs/one"],
                ["sweep", *TEAM, *llm, "seed=1,2", "engine.workers=1", "--name", "grid"],
                ["results", "runs/grid"],
                ["export", "runs/grid", "--to", "otlp", "--calls", "--out", "out.otlp"],
            ],
        )
    names = {file.name for file in tmp_path.rglob("*")}
    assert {"calls.jsonl", "meta.json", "trace.jsonl", "results.csv", "replies.sqlite", "out.otlp"} <= names
    assert echo.repeated > 10
    assert any("[key]" in text for text in shown)
    assert leaks(tmp_path, shown) == []
