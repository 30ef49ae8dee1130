"""A server repeats the key in every field and header of its answers, and nothing that any verb writes holds it.

LiteLLM's part is in `tests/episode/test_wire.py`, which also runs where litellm is installed.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from tests.conftest import Quorum
from tests.loopback import Addresses, Batches
from tests.loopback.echoes import STATUSES, Echo, found_in
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
TEAM = ("agents=naive", "n=2", "max_steps=3")


def model_of(wire: str, addresses: Addresses, variable: str = VARIABLE) -> list[str]:
    """Give the words for a model behind a wire, which gets the key."""
    url = addresses.openai if wire.startswith("openai") else addresses.anthropic
    values = {
        "base_url": url,
        "model": "simulated",
        "api_key_env": variable,
        "cache": "true",
        "cache_path": "replies.sqlite",
    }
    return [f"llm={wire}", *(f"llm.{key}={value}" for key, value in values.items())]


@contextmanager
def hostile(
    statuses: Callable[[int], int | None] = STATUSES.get, **arguments: object
) -> Iterator[tuple[Addresses, Echo]]:
    """Serve the simulated model behind a server that repeats the key; what goes wrong is by number of the request."""
    made: list[Echo] = []
    plain = dict.fromkeys(SimulatedSettings.model_fields, 0.0)
    brain = SimulatedModel(SimulatedSettings(**{**plain, "seed": 0}))

    def spoiled(app: ASGIApp) -> Echo:
        made.append(Echo(app, statuses))
        return made[0]

    with served(brain, spoiled=spoiled, **arguments) as addresses:
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


def play(quorum: Quorum, commands: Sequence[Sequence[str]], codes: Sequence[int] = (0, 1)) -> list[str]:
    """Run commands, which end with one of some exit codes; give what each has shown."""
    shown = []
    for words in commands:
        done = quorum(*words, **ENVIRONMENT)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode in codes, (words, done.stderr)
        shown += [done.stdout, done.stderr]
    return shown


def test_a_key_that_the_server_repeats_is_in_no_file_and_on_no_terminal(quorum: Quorum, tmp_path: Path) -> None:
    with hostile() as (addresses, echo):
        llm = model_of("openai", addresses)
        shown = play(
            quorum,
            [
                ["run", *TEAM, *llm, "--debug", "--out", "runs/one"],
                ["sweep", *TEAM, *llm, "seed=1,2,3", "engine.workers=1", "--name", "grid"],
                ["results", "runs/grid"],
                ["export", "runs/grid", "--to", "otlp", "--calls", "--out", "out.otlp"],
            ],
        )
    names = {file.name for file in tmp_path.rglob("*")}
    assert {"calls.jsonl", "meta.json", "trace.jsonl", "results.csv", "replies.sqlite", "out.otlp"} <= names
    assert echo.repeated > 10
    assert any("[key]" in text for text in shown)
    assert leaks(tmp_path, shown) == []


WIRES = ("openai", "openai_responses", "anthropic", "gemini")


def every_verb(llm: Sequence[str]) -> list[list[str]]:
    """Give the commands of all verbs that ask a model, or show what one has answered."""
    play = [*TEAM, *llm]
    formats = [
        ["export", "runs/grid", "--to", to, "--calls"] for to in ("parquet", "inspect", "hf", "otlp", "who-when", "sft")
    ]
    return [
        ["check", *play],
        ["check", *play, "--json", "--debug"],
        ["run", *play, "seed=5", "--out", "runs", "--verbose"],
        ["run", *play, "seed=6", "--out", "runs", "--json", "--debug"],
        ["sweep", *play, "seed=1,2", "topology=debate,individual", "engine.workers=2", "--name", "grid", "--verbose"],
        ["sweep", *play, "seed=1,2", "--name", "grid", "--dry-run"],
        ["show", *play],
        ["show", "prompt", *play],
        ["results", "runs/grid", "--csv"],
        ["results", "runs/grid", "--json"],
        ["results", "runs/grid", "--sql", "from per_agent"],
        ["results", "runs/grid", "--write"],
        ["results", "runs/grid", "--sql", "select * from results"],
        ["credit", "runs/grid", "--write"],
        *formats,
        ["compare", "runs/grid", "--by", "topology"],
        ["report", "runs/grid", "--episodes"],
        ["study", "talk", *play, "topology=debate", "draw=range(0,1)", "seed=range(0,2)", "--budget-tokens", "300000"],
        ["check", "runs/grid"],
        ["reproduce", "llamac-table2", *llm, "--dry-run"],
        ["list", "llm"],
    ]


def of_a_run(run: str) -> list[list[str]]:
    """Give the commands about a single run."""
    return [
        ["show", "failures", run],
        ["view", run, "--export", "page.html"],
        ["replay", run],
        ["replay", run, "--out", "film.gif"],
        ["branch", run, "--at", "0", "llm.temperature=1", "--budget-calls", "40", "--name", "branches"],
        ["blame", run, "--method", "rules", "--json"],
        ["blame", run, "--success", "score>=999", "--budget-calls", "30"],
        ["credit", run, "--of", "live", "--budget-calls", "30", "--write"],
        ["check", "--drift", run, "--budget-calls", "40"],
        ["check", run],
        ["run", *TEAM, "seed=5", "llm=replay", f"llm.run={run}", "--out", "runs/again"],
    ]


@pytest.mark.conformance
@pytest.mark.parametrize("wire", WIRES)
def test_nothing_that_any_verb_writes_holds_the_key(wire: str, quorum: Quorum, tmp_path: Path) -> None:
    with hostile() as (addresses, echo):
        llm = model_of(wire, addresses)
        shown = play(quorum, every_verb(llm))
        run = next(path for path in sorted((tmp_path / "runs").iterdir()) if "-s5-" in path.name)
        shown += play(quorum, of_a_run(f"runs/{run.name}"))
    names = {file.name for file in tmp_path.rglob("*")}
    wanted = {"calls.jsonl", "results.csv", "page.html", "film.gif", "branches", "again", "runs.parquet"}
    assert wanted <= names, wanted - names
    assert echo.repeated > 50  # the canary has sung: how often depends on the wire
    assert leaks(tmp_path, shown) == []


@pytest.mark.conformance
@pytest.mark.parametrize("status", [401, 429, 500])
@pytest.mark.parametrize("wire", WIRES)
def test_no_refusal_shows_or_keeps_the_key(wire: str, status: int, quorum: Quorum, tmp_path: Path) -> None:
    check_refusal(wire, status, quorum, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("status", [400, 403, 404, 422, 0])
@pytest.mark.parametrize("wire", WIRES)
def test_no_other_refusal_shows_or_keeps_the_key(wire: str, status: int, quorum: Quorum, tmp_path: Path) -> None:
    check_refusal(wire, status, quorum, tmp_path)


def check_refusal(wire: str, status: int, quorum: Quorum, tmp_path: Path) -> None:
    with hostile(lambda _: status) as (addresses, echo):
        words = [*TEAM, *model_of(wire, addresses), "llm.tries=2", "llm.rate_limited_tries=2"]
        asked = [["run", *words, "--debug"], ["check", *words], ["sweep", *words, "--name", "grid"]]
        shown = play(quorum, [*asked, ["results", "runs/grid"]], (0, 1, 2))
    assert echo.repeated
    assert any("[key]" in text for text in shown) or status == 0
    assert leaks(tmp_path, shown) == []


@pytest.mark.conformance
@pytest.mark.parametrize("wire", WIRES)
def test_the_journal_of_batches_holds_no_key(wire: str, quorum: Quorum, tmp_path: Path) -> None:
    batches = ("engine=batch", "engine.wait=1", "engine.poll=0.1")
    with hostile(lambda _: None, batches=Batches()) as (addresses, echo):
        shown = play(quorum, [["sweep", *TEAM, *model_of(wire, addresses), "seed=1,2", *batches, "--name", "grid"]])
    assert (tmp_path / "runs" / "grid" / "batches.jsonl").exists()
    assert echo.repeated
    assert leaks(tmp_path, shown) == []


@pytest.mark.parametrize(
    "words",
    [
        (f"llm.api_key={CANARY}",), (f"llm.api_key_env={CANARY}",), (f"llm.model={CANARY}",),
        (f"llm.base_url=http://me:{CANARY}@127.0.0.1:9/v1",), (f"llm.base_url=http://127.0.0.1:9/v1?key={CANARY}",),
        (f"+llm.extra_headers.Authorization={CANARY}",), (f"+llm.extra_body.user={CANARY}",),
        ("--out", f"{CANARY}/runs"),
    ],
    ids=lambda words: words[0].partition("=")[0],
)  # fmt: skip
def test_a_key_that_is_typed_is_neither_shown_nor_kept(words: tuple[str, ...], quorum: Quorum, tmp_path: Path) -> None:
    known = model_of("openai", Addresses.at(9))
    shown = play(
        quorum, [["show", *TEAM, *known, *words] if words[0] != "--out" else ["check", *TEAM, *words]], (2, 1, 0)
    )
    assert leaks(tmp_path, shown) == []
