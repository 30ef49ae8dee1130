"""Pictures reach a model whole, in the fields of each format; a server takes what is a PNG, and counts it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from quorum.agents.llm.cache import Cache, Cached
from quorum.agents.llm.errors import BadRequest, ServerFailed
from quorum.agents.llm.limits import estimate_prompt
from quorum.agents.llm.pictures import NoPicture, Picture, picture_tokens, read_png
from quorum.agents.llm.protocol import ChatMessage, ChatRole, MaxTokensKey, Request
from quorum.agents.llm.providers.chat import chat_arguments
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.recording import Folding, Recording, unfolded
from quorum.agents.llm.records import describe_request, request_key
from quorum.more_providers.serving.formats import read_content
from tests.agents.llm.raw import answer, completion, raw_server
from tests.agents.llm.wire import TEXT, WIRES, Brain, client, provider, request, stack


def png(width: int = 30, height: int = 20, colour: str = "#336699") -> bytes:
    file = BytesIO()
    Image.new("RGB", (width, height), colour).save(file, "PNG")
    return file.getvalue()


def shown(*pictures: bytes, prompt: str = "What do you see?") -> Request:
    """Ask about pictures."""
    asked = request(prompt)
    system, user = asked.messages
    return replace(asked, messages=(system, replace(user, pictures=tuple(map(read_png, pictures)))))


@pytest.mark.parametrize("wire", WIRES)
async def test_the_picture_reaches_the_brain_before_its_words(wire: str) -> None:
    brain = Brain()
    async with provider(wire, brain) as model:
        await model.complete(shown(png(), png(colour="#ffffff")))
    seen = brain.asked[0].messages[-1]
    assert seen.content == "What do you see?"
    assert [picture.png for picture in seen.pictures] == [png(), png(colour="#ffffff")]


async def test_the_exact_fields_of_openai_s_format() -> None:
    said = answer(completion(message={"role": "assistant", "content": TEXT}))
    async with raw_server(said) as (addresses, server), client("openai", addresses) as model:
        await model.complete(shown(png()))
    url = f"data:image/png;base64,{b64encode(png()).decode()}"
    assert server.asked[0]["messages"][-1] == {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": url, "detail": "high"}},
            {"type": "text", "text": "What do you see?"},
        ],
    }


async def test_the_exact_fields_of_anthropic_s_format() -> None:
    message = {
        "id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "stop_sequence": None, "content": [{"type": "text", "text": TEXT}],
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }  # fmt: skip
    async with raw_server(answer(message)) as (addresses, server), client("anthropic", addresses) as model:
        reply = await model.complete(shown(png()))
    assert server.asked[0]["messages"] == [
        {
            "role": "user",
            "content": [
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": b64encode(png()).decode()},
                },
                {"type": "text", "text": "What do you see?"},
            ],
        }
    ]
    assert reply.usage.prompt == 100, "what the server has counted stands"


def test_litellm_gets_the_parts_of_openai_s_format() -> None:
    asked = shown(png())
    part, text = chat_arguments(asked, Offer(None, asked.sampling, MaxTokensKey.MAX_TOKENS, 256))["messages"][-1][
        "content"
    ]
    assert b64decode(part["image_url"]["url"].removeprefix("data:image/png;base64,")) == png()
    assert text == {"type": "text", "text": "What do you see?"}


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_prompt_without_pictures_is_sent_as_a_text(wire: str) -> None:
    async with raw_server(answer({}, 500)) as (addresses, server), client(wire, addresses) as model:
        with pytest.raises(ServerFailed):
            await model.complete(request())
    assert server.asked[0]["messages"][-1]["content"] == "What will you do?"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (png()[:-4], "damaged or cut off"),
        (b"GIF89a", "not a PNG"),
    ],
)
async def test_the_server_refuses_what_is_no_whole_png(content: bytes, expected: str) -> None:
    broken = Picture("0" * 64, 30, 20, lambda: content)
    asked = request()
    asked = replace(asked, messages=(replace(asked.messages[1], pictures=(broken,)),))
    async with provider("openai") as model:
        with pytest.raises(BadRequest, match=expected):
            await model.complete(asked)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": ""}},
        {"type": "input_audio"},
        "text",
    ],
)
def test_the_server_looks_nothing_up_and_takes_no_other_parts(part: Any) -> None:
    with pytest.raises(ValueError, match=r"only text, and PNG pictures|list of parts"):
        read_content([part])


def test_the_size_of_a_picture_is_read_from_its_head() -> None:
    picture = read_png(png(741, 765))
    assert (picture.width, picture.height) == (741, 765)
    with pytest.raises(NoPicture):
        read_png(b"")


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((512, 512), 350),  # one tile: 255, and 512 * 512 / 750 = 349.5
        ((1024, 1024), 1399),  # 765 by tiles; Anthropic's 1,398.1
        ((300, 900), 425),  # two tiles: 85 + 340; 360 by pixels
        ((3136, 1568), 1640),  # scaled to 1,568 x 784 first; by tiles 1,105
    ],
)
def test_tokens_are_those_of_the_dearer_rule(size: tuple[int, int], tokens: int) -> None:
    assert picture_tokens([Picture("", *size, bytes)]) == tokens


def test_an_estimate_has_the_tokens_of_the_pictures() -> None:
    assert estimate_prompt(shown(png(512, 512))) == estimate_prompt(shown()) + 350


def test_pictures_are_part_of_what_names_a_request_and_words_alone_are_named_as_ever() -> None:
    assert len({request_key(shown(*pictures)) for pictures in ([], [png()], [png(31)], [png(), png()])}) == 4
    assert all("pictures" not in message for message in describe_request(shown())["messages"])


def test_a_painter_of_another_version_names_the_same_request() -> None:
    one, other = (Picture("a" * 64, 3, 2, lambda made=made: made) for made in (b"one", b"other"))  # type: ignore[misc]
    asked = [replace(request(), messages=(ChatMessage(ChatRole.USER, "", pictures=(each,)),)) for each in (one, other)]
    assert request_key(asked[0]) == request_key(asked[1])


async def test_a_picture_is_kept_before_the_record_that_names_it() -> None:
    order: list[str] = []
    recording = Recording(Brain(), lambda record: order.append(record["key"]), lambda each: order.append(each.hash))
    asked = shown(png())
    await recording.complete(asked)
    assert order == [read_png(png()).hash, request_key(asked)]


def test_a_folded_record_keeps_its_own_pictures() -> None:
    folding, records = Folding(), []
    for content in (png(), png(40)):
        asked = shown(content, prompt="see " * 100)
        records.append({"agent": "a", "key": request_key(asked), "request": describe_request(asked)})
    lines = [folding.line(record) for record in records]
    assert b'"like"' in lines[1]
    assert [record["request"] for record in unfolded(lines)] == [record["request"] for record in records]


async def test_the_cache_tells_pictures_apart(tmp_path: Any) -> None:
    brain, cache = Brain(), Cache(tmp_path / "cache.sqlite")
    model = stack(brain, caching=partial(Cached, cache=cache, identity={"provider": "x"}, sampled=True))
    hits = [(await model.complete(shown(content))).cache_hit for content in (png(), png(40), png())]
    cache.close()
    assert hits == [False, False, True]
