"""What stands after the last mark that ends thoughts is the answer; all before it counts as thoughts."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.agents.llm.providers.thoughts import split
from tests.agents.llm.raw import answer, completion, raw_server
from tests.agents.llm.wire import ANSWER, SDKS, TEXT, Brain, client, provider, request, stack

DRAFT = TEXT.replace("3", "4")
CHANNEL = "<|channel|>"
MARKS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("[REASONING]", "[/REASONING]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought\n", "<channel|>"),
    (f"{CHANNEL}analysis<|message|>", f"<|end|><|start|>assistant{CHANNEL}final<|message|>"),
    (f"{CHANNEL}analysis<|message|>", f"<|end|><|start|>assistant{CHANNEL}final <|constrain|>json<|message|>"),
    (f"{CHANNEL}analysis<|message|>", f"{CHANNEL}commentary to=functions.decision <|constrain|>json<|message|>"),
    ("analysis", "assistantfinal"),
]


@pytest.mark.parametrize("marks", MARKS, ids=range(len(MARKS)))
def test_thoughts_between_the_marks_of_every_family_are_parted(marks: tuple[str, str]) -> None:
    begin, end = marks
    assert split(f"{begin}Hm. {DRAFT}{end}\n{TEXT}") == (f"Hm. {DRAFT}", TEXT)


@pytest.mark.parametrize("end", [end for _, end in MARKS[:-1]])
def test_thoughts_whose_first_mark_the_template_wrote_are_parted(end: str) -> None:
    assert split(f"Maybe {DRAFT}? No.{end}{TEXT}") == (f"Maybe {DRAFT}? No.", TEXT)


@pytest.mark.parametrize(
    ("text", "thoughts", "found"),
    [
        (f"Let me think. <think>Hm. {DRAFT}</think>{TEXT}", f"Let me think. Hm. {DRAFT}", TEXT),
        (f"<think>a</think>{DRAFT}<think>b</think>{TEXT}", f"a{DRAFT}b", TEXT),
        (f"{DRAFT}<think>Hm.</think>{TEXT}", f"{DRAFT}Hm.", TEXT),
        (f"<think>Hm. {DRAFT}", f"Hm. {DRAFT}", ""),
        (f"Well. <think>Hm. {DRAFT}", f"Well. Hm. {DRAFT}", ""),
        (f"{TEXT}<think>was that", "was that", TEXT),
        (f"<think>a</think>{TEXT}<think>was that", "awas that", TEXT),
        (f"{CHANNEL}analysis<|message|>Hm. {DRAFT}", f"Hm. {DRAFT}", ""),
        ("<think>Hm.</think>", "Hm.", ""),
        ("<think>open { and \" then</think>" + TEXT, 'open { and " then', TEXT),
        (f"<think>a</think><answer>{TEXT}</answer>", "a", TEXT),
        (f"<think>a</think>{TEXT}<|return|>", "a", TEXT),
    ],
)  # fmt: skip
def test_drafts_prose_and_thoughts_without_an_end_are_no_answer(text: str, thoughts: str, found: str) -> None:
    assert split(text) == (thoughts, found)


MARKED = json.dumps({"mood": "I say <think>no</think>, </think> and [/THINK] {or not}"})


@pytest.mark.parametrize(
    "text",
    [MARKED, f"Here: {MARKED}", f"```json\n{MARKED}\n```", 'Say "<think>no</think>".', "Say `</think>`.", "Yes.", ""],
)
def test_marks_in_strings_of_the_answer_and_quoted_ones_are_no_marks(text: str) -> None:
    assert split(text) == (None, text)


@pytest.mark.parametrize("thoughts", ["Hm.", 'Hm { " so', f"First {DRAFT}.", "{step by step}"])
def test_marks_in_strings_of_the_answer_stay_where_thoughts_precede_it(thoughts: str) -> None:
    assert split(f"<think>{thoughts}</think>{MARKED}") == (thoughts, MARKED)


@given(st.lists(st.sampled_from(["<think>", "</think>", "{", "}", '"', "\\", TEXT, "a", " ", "[/THINK]"]), max_size=30))
def test_no_text_breaks_it_and_nothing_is_invented(parts: list[str]) -> None:
    text = "".join(parts)
    thoughts, found = split(text)
    assert found in text
    assert thoughts is not None or found == text


@pytest.mark.parametrize(
    "part", ["</think>", "<think>", "{", '{"a":', '"</think>', "<|channel|>analysis", " ", "[", "{</think>"]
)
def test_the_time_grows_with_the_length_of_the_text(part: str) -> None:
    """Each length takes its best time of three, so that a busy machine does not matter."""
    times = []
    for length in (40_000, 320_000):
        text = part * (length // len(part)) + "x"
        times.append(min(timed(text) for _ in range(3)))
    assert times[1] < 8 * 6 * max(times[0], 0.01)


def timed(text: str) -> float:
    """Return the CPU seconds that it takes to split a text."""
    begin = time.process_time()
    split(text)
    return time.process_time() - begin


@pytest.mark.parametrize("wire", SDKS)
async def test_a_draft_in_thoughts_is_never_played_by_any_wire(wire: str) -> None:
    text = f"Let me see: {DRAFT}</think>\n{TEXT}"
    async with provider(wire, Brain(text)) as model:
        reply = await stack(model).complete(request())
    assert (reply.value, reply.repairs) == (ANSWER, 0)
    assert reply.thinking == f"Let me see: {DRAFT}"
    assert reply.usage.reasoning > 0
    assert reply.usage.reasoning_estimated
    assert reply.usage.completion == 20


async def test_thoughts_that_the_server_says_it_has_not_seen_are_counted() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 60, "completion_tokens_details": {"reasoning_tokens": 0}}
    said = completion(message={"role": "assistant", "content": f"{'Hm. ' * 40}</think>{TEXT}"}, usage=usage)
    async with raw_server(answer(said)) as (addresses, _), client("openai", addresses) as model:
        reply = await stack(model).complete(request())
    assert (reply.usage.reasoning, reply.usage.completion) == (40, 60)


async def test_thoughts_without_an_end_are_an_empty_answer_and_asked_for_again() -> None:
    brain = Brain([f"<think>{DRAFT}", TEXT])
    async with provider("openai", brain) as model:
        reply = await stack(model).complete(request())
    assert (reply.value, reply.widened) == (ANSWER, 1)
