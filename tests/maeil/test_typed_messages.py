"""What a message claims and asks: fields on the trace, and words for those who read it."""

from __future__ import annotations

import pytest

from maeil.errors import ContractError
from maeil.messages import Ask, Draft
from maeil.mind import Act, Thought, View
from maeil.plans import Plan, Task
from maeil.trace import read_trace
from maeil.trace.events import MessageSent
from quorum.agents.naive.answers import AnswerTypes
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.topologies.plain import Debate, DebateConfig
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, play

NAMES = ("agent_0", "agent_1", "agent_2")
PUSH = Task("deliver", "block_3")


@pytest.mark.parametrize(
    ("draft", "read"),
    [
        (Draft((1, 2), "Hello.", task=PUSH), "Hello."),
        (Draft((1, 2), "Hello.", task=PUSH, asks=()), "Hello. My task: deliver block_3."),
        (Draft((1, 2), "Block 3 is mine.", task=PUSH, asks=()), "Block 3 is mine."),
        (Draft((1, 2), "block_31!", task=PUSH, asks=()), "block_31! My task: deliver block_3."),
        (Draft((1, 2), "Take block_3.", asks=(Ask(1, PUSH),)), "Take block_3. agent_1: deliver block_3."),
        (Draft((1,), "Take block_3.", asks=(Ask(1, PUSH),)), "Take block_3."),
        (Draft((1, 2), "Agent 1, take block_3.", asks=(Ask(1, PUSH),)), "Agent 1, take block_3."),
        (Draft((1, 2), "", asks=(Ask(2, PUSH),)), "agent_2: deliver block_3."),
    ],
)
def test_what_the_fields_alone_say_reaches_readers_in_words(draft: Draft, read: str) -> None:
    assert draft.in_words(NAMES) == read


def said_by(draft: Draft) -> tuple[list[Scripted], list[MessageSent]]:
    def answer(view: View) -> Thought:
        speaks = Act.SPEAK in view.turn.acts and view.agent == 0
        return Thought(Plan((Walk(),)) if Act.PLAN in view.turn.acts else None, (draft,) if speaks else ())

    minds = [Scripted(answer), Scripted(answer)]
    events = play(minds, Corridor(2, length=1), topology=Debate(DebateConfig(name="debate", rounds=1)))
    return minds, [one.event for one in events if isinstance(one.event, MessageSent)]


def test_fields_are_on_the_trace_and_a_message_that_is_text_alone_has_none() -> None:
    minds, (sent, *_) = said_by(Draft((1,), "Go.", task=PUSH, asks=(Ask(1, PUSH),)))
    task = {"kind": "deliver", "target": "block_3"}
    assert (sent.task, sent.asks) == (task, [{"agent": 1, "task": task}])
    assert b'"task":{"kind":"deliver","target":"block_3"},"asks":[{"agent":1,' in sent.line(0, 0, 0, 0.0)
    heard = [message.content for view in minds[1].views for message in view.unread]
    assert heard[0] == sent.content == "Go. My task: deliver block_3. agent_1: deliver block_3."
    _, (plain, *_) = said_by(Draft((1,), "Go."))
    assert plain.asks is None
    assert plain.line(0, 0, 0, 0.0).endswith(b'"tasks":[],"wall":0.000000}\n'), (
        "as traces were before there were fields"
    )


def test_nobody_asks_itself_or_nobody_and_an_ask_is_an_ask() -> None:
    for agent in (0, 2):
        _, sent = said_by(Draft((1,), "Go.", asks=(Ask(agent, PUSH),)))
        assert sent == [], "refused to the end"
    with pytest.raises(ContractError, match="an ask of a message is a Task"):
        said_by(Draft((1,), "Go.", asks=(PUSH,)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words",
    [
        ("agents=negotiator", "topology=debate", "n=3"),
        ("agents=negotiator", "topology=centralized", "n=3"),
        ("agents=naive", "topology=hybrid", "n=4"),
        ("agents=naive", "topology=centralized", "env=crafter_coop", "n=3"),
        ("agents=naive", "topology=debate", "env=transport", "n=4"),
        ("agents=llamac", "topology=centralized", "topology.leader=coordinator", "topology.rounds=3", "n=3"),
        ("agents=drwell", "topology=negotiation", "n=3"),
    ],
    ids=" ".join,
)
def test_rules_and_the_simulated_model_say_in_fields_what_their_texts_say(words: tuple[str, ...], tmp_path) -> None:
    folder = run_cell(Cell.compose([*words, "max_steps=15"]), tmp_path).folder
    sent = list(read_trace(folder).of(MessageSent))
    assert sent
    assert all(message.asks is not None for message in sent)
    assert any(message.task or message.asks for message in sent)
    assert "My task" not in " ".join(message.content for message in sent), "their texts say all of it already"


def test_the_form_of_a_turn_asks_for_fields_and_names_whom_and_what_can_be_asked() -> None:
    from tests.agents.test_naive import WORLD, view

    types = AnswerTypes(WORLD.vocabulary, 8)
    now = view(WORLD, acts=(Act.SPEAK,), recipients=(1, 2))
    definitions = types.wanted(now, grounded=True).schema["$defs"]
    assert definitions["MessageAnswer"]["properties"]["asks"]["type"] == "array", "no null: not text alone"
    assert now.name not in definitions["AskAnswer"]["properties"]["agent"]["enum"]
    message = {"recipients": ["all"], "kind": "directive", "content": "Go.", "task": None}
    asks = [{"agent": now.names[1], "task": {"kind": "deliver", "target": "block_3"}}]
    (typed,) = types.read({"thoughts": "", "messages": [{**message, "asks": asks}]}, now).messages
    assert typed.asks == (Ask(1, PUSH),)
    (plain,) = types.read({"thoughts": "", "messages": [message]}, now).messages
    assert plain.asks is None
