"""A key appears nowhere: in no error, log line, representation, record or cache, also when a server echoes it."""

from __future__ import annotations

import json
import logging
import traceback
from functools import partial
from pathlib import Path

import pytest

from maeil.errors import EpisodeStop
from quorum.agents.llm.cache import Cache, Cached
from quorum.agents.llm.errors import AuthenticationFailed, LanguageModelError
from quorum.agents.llm.protocol import Request
from quorum.agents.llm.providers.failures import Key
from tests.agents.llm.wire import CANARY, KEY_VARIABLE, TEXT, WIRES, Brain, provider, request, stack
from tests.loopback import Fault, FaultKind


def chain(error: BaseException | None) -> str:
    """Give everything that a traceback with hidden contexts would show."""
    shown = []
    while error is not None:
        shown += [str(error), repr(error), "".join(traceback.format_exception(error))]
        error = error.__cause__ or error.__context__
    return "\n".join(shown)


@pytest.mark.parametrize("wire", WIRES)
async def test_an_echoed_key_is_in_no_error_and_no_log(wire: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    records: list[object] = []
    async with provider(wire, faults=lambda _: Fault(FaultKind.UNAUTHORIZED)) as model:
        with pytest.raises(AuthenticationFailed) as caught:
            await stack(model, sink=records.append).complete(request())
        shown = repr(model) + str(vars(model)) + json.dumps(model.identity)
    assert CANARY not in chain(caught.value)
    assert "[key]" in str(caught.value) or "REDACTED" in str(caught.value)  # litellm takes some out itself
    assert CANARY not in json.dumps(records)
    assert CANARY not in shown
    assert CANARY not in caplog.text


@pytest.mark.parametrize("wire", WIRES)
async def test_no_fault_brings_the_key_to_light(
    wire: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    kinds = [kind for kind in FaultKind if kind is not FaultKind.SILENCE]
    records: list[object] = []
    texts = []
    endless = [FaultKind.DRIP]  # ends by the deadline alone, which cuts no other short, however slow the machine is
    for some, deadline in ((endless, 0.5), ([kind for kind in kinds if kind not in endless], 60.0)):
        faults = [Fault(kind, text=CANARY) for kind in some]
        async with provider(wire, faults=faults, deadline=deadline) as model:
            for _ in some:
                try:
                    await stack(model, retry=None, max_repairs=0, sink=records.append).complete(request())
                except (LanguageModelError, EpisodeStop) as error:
                    texts.append(chain(error))
    empty = {FaultKind.EMPTY, FaultKind.REFUSAL}  # asked for once more, so that each of them is met and one follows it
    assert len(records) == len(kinds) + len(empty)
    assert CANARY not in "\n".join(texts)
    assert CANARY not in json.dumps(records)
    assert CANARY not in caplog.text
    assert CANARY not in "".join(capsys.readouterr())


async def test_an_answer_that_repeats_the_key_is_kept_without_it(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    records: list[object] = []

    def parrot(asked: Request) -> str:
        return TEXT.replace("ready", CANARY)

    async with provider("openai", Brain(parrot)) as model:
        caching = partial(Cached, cache=cache, identity=model.identity, sampled=True)
        answer = await stack(model, caching=caching, sink=records.append).complete(request())
    cache.close()
    assert CANARY not in str(answer) + json.dumps(records)
    assert answer.value["mood"] == "[key] {to go}"
    assert all(CANARY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_key_shows_its_variable_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert repr(Key(KEY_VARIABLE)) == f"Key({KEY_VARIABLE})"
    monkeypatch.setenv("BROKEN_KEY", f"{CANARY}\nand-more")
    with pytest.raises(AuthenticationFailed) as caught:
        Key("BROKEN_KEY")
    assert CANARY not in str(caught.value)


def test_what_the_environment_calls_a_secret_is_redacted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELSEWHERE_ACCESS_TOKEN", "another-secret-1234")
    assert Key(None).redaction()(f"{CANARY}, another-secret-1234") == "[key], [key]"


def test_a_placeholder_for_a_server_without_keys_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_KEY", "EMPTY")
    assert Key("LOCAL_KEY").redaction()("EMPTY") == "EMPTY"
