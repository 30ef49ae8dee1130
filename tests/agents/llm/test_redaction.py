"""A secret is taken out in every form in which servers echo it, and ordinary words stay."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.agents.llm.errors import RateLimited
from quorum.agents.llm.protocol import Finish, Rejected, Reply, Usage
from quorum.agents.llm.redacting import Redacting
from quorum.agents.llm.redaction import Redaction, named_secrets, redact_message
from tests.agents.llm.wire import CANARY, Brain, reply, request
from tests.loopback.echoes import FORMS, found_in

KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16, max_size=80)
REDACT = Redaction([CANARY])


@pytest.mark.parametrize("number", range(len(FORMS)))
@pytest.mark.parametrize("depth", range(3))
def test_a_key_is_found_in_every_form_however_deep_it_is_packed_in_json(number: int, depth: int) -> None:
    text = f"before {FORMS[number](CANARY)} after"
    for _ in range(depth):
        text = json.dumps({"said": text})
    assert found_in(text.encode(), CANARY) or "u" in text
    clean = REDACT(text)
    assert "[key]" in clean
    assert found_in(clean.encode(), CANARY) == []
    assert "before" in clean
    assert "after" in clean


@given(KEYS, st.binary(max_size=5), st.binary(max_size=5))
def test_the_base64_of_a_key_is_found_wherever_it_stands(key: str, before: bytes, after: bytes) -> None:
    redact = Redaction([key])
    for encode in (b64encode, urlsafe_b64encode):
        encoded = encode(before + key.encode() + after).decode()
        assert len(redact(encoded)) <= len("[key]") + 4 * (len(before) + len(after)) // 3 + 10
        assert "[key]" in redact(encoded)


@given(KEYS)
def test_any_printable_key_is_found_escaped_and_in_addresses(key: str) -> None:
    redact = Redaction([key])
    for text in (key, json.dumps(key), json.dumps(json.dumps(key)), quote(key), quote(key, safe=""), quote(quote(key))):
        assert "[key]" in redact(text)
        assert key not in redact(text)


@given(st.text(max_size=200))
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert CANARY in text or REDACT(text) == text


def test_the_rest_of_a_body_stays_as_it_is_byte_by_byte() -> None:
    body = json.dumps({"model": CANARY, "text": "Grüße: 100 % {\n}"}, ensure_ascii=False).encode()
    assert REDACT.in_bytes(body) == body.replace(CANARY.encode(), b"[key]")
    assert REDACT.in_bytes(other := b'{"broken \xff') is other


@pytest.mark.parametrize(
    "word", ["x", "EMPTY", "none", "ollama", "lm-studio", "not-needed", "anything", "placeholder", "20261128"]
)
def test_a_word_that_stands_for_no_key_is_an_ordinary_word(word: str) -> None:
    redact = Redaction.of({"OPENAI_API_KEY": word}, word)
    assert redact(f"The model {word} needs {word}.") == f"The model {word} needs {word}."


def test_the_secrets_of_an_environment_are_found_by_their_names(tmp_path) -> None:
    file = tmp_path / "service-account-credentials.json"
    file.touch()
    environment = {
        "WANDB_API_KEY": "0123456789abcdef", "MY_TOKEN_2": "token-0123", "DB_PASSWORD": "correct-horse-battery",
        "GOOGLE_APPLICATION_CREDENTIALS": str(file), "MAX_TOKENS": "100000", "KEYBOARD": "us",
        "MODEL": "qwen3-8b-instruct", "VAULT_TOKEN_ADDRESS": "https://vault.example/v1",
    }  # fmt: skip
    assert named_secrets(environment).keys() == {"WANDB_API_KEY", "MY_TOKEN_2", "DB_PASSWORD"}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"HTTP_PROXY": "http://me:pass-4711@proxy:3128"}, "407 for pass-4711"),
        ({"HTTP_PROXY": "http://me:p%40ss-4711@proxy:3128"}, "407 for p@ss-4711"),
        ({"HTTP_PROXY": "http://me:secret@proxy:3128"}, f"Basic {b64encode(b'me:secret').decode()}"),
        ({"OPENAI_CUSTOM_HEADERS": "X-Team: blue\nX-Auth: Bearer token-4711"}, "no team has token-4711"),
        ({"OTEL_EXPORTER_OTLP_HEADERS": "api-key=token-4711,x=y"}, "token-4711 is wrong"),
    ],
)
def test_passwords_of_addresses_and_secret_headers_are_secrets(environment: Mapping[str, str], said: str) -> None:
    assert Redaction.of(environment)(said).count("[key]") == 1


def test_a_message_shows_neither_secrets_nor_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELSEWHERE_TOKEN", "another-secret-1234")
    assert redact_message("http://a:b@host took another-secret-1234") == "http://[hidden]@host took [key]"


async def test_no_text_of_a_reply_of_any_provider_holds_a_key() -> None:
    given_back = Reply(
        text=CANARY, finish=Finish.STOP, usage=Usage(1, 1), usd=None, seconds=0.0, model=CANARY,
        value={CANARY: [CANARY]}, not_sent=(CANARY,), rejected=(Rejected(CANARY, (CANARY,)),), thinking=CANARY,
        tier=CANARY, fingerprint=CANARY, fallback=CANARY, carried=({"data": CANARY},),
    )  # fmt: skip
    answer = await Redacting(Brain([given_back]), REDACT).complete(request())
    assert CANARY not in repr(answer)
    assert (answer.model, answer.finish, answer.usage) == ("[key]", Finish.STOP, Usage(1, 1))


async def test_no_error_of_any_provider_holds_a_key() -> None:
    with pytest.raises(RateLimited) as caught:
        await Redacting(Brain([RateLimited(f"Slow down, {CANARY}", 3.0)]), REDACT).complete(request())
    assert (str(caught.value), caught.value.retry_after) == ("Slow down, [key]", 3.0)


async def test_a_reply_without_a_key_stays_equal() -> None:
    plain = reply("A plan for 100 % of us.")
    assert await Redacting(Brain([plain]), REDACT).complete(request()) == plain
