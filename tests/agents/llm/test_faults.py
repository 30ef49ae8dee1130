"""The fault table, over real HTTP with the real SDKs: nothing hangs, and nothing becomes a made-up answer."""

from __future__ import annotations

import socket
import time

import pytest

from quorum.agents.llm.errors import (
    AnswerInvalid,
    AuthenticationFailed,
    BadRequest,
    BrokenResponse,
    ConnectionLost,
    InfrastructureFailed,
    LanguageModelError,
    RateLimited,
    RequestRefused,
    ServerFailed,
    TimedOut,
    Transient,
    UnknownModel,
)
from quorum.agents.llm.protocol import Finish
from tests.agents.llm.wire import ANSWER, SDKS, TEXT, THROUGH_LITELLM, WIRES, Brain, provider, request, stack
from tests.conftest import PATIENCE
from tests.loopback import Addresses, Fault, FaultKind

FIXED = [
    Fault(FaultKind.RATE_LIMIT, seconds=0.05),
    Fault(FaultKind.RATE_LIMIT),
    Fault(FaultKind.SERVER_ERROR),
    Fault(FaultKind.OVERLOADED),
    Fault(FaultKind.RESET),
    Fault(FaultKind.RESET_HALFWAY),
    Fault(FaultKind.HTML),
    Fault(FaultKind.BROKEN_JSON),
    Fault(FaultKind.NO_CHOICES),
    Fault(FaultKind.STALE),
]
KINDS: dict[FaultKind, type[LanguageModelError]] = {
    FaultKind.RATE_LIMIT: RateLimited,
    FaultKind.SERVER_ERROR: ServerFailed,
    FaultKind.OVERLOADED: ServerFailed,
    FaultKind.RESET: ConnectionLost,
    FaultKind.RESET_HALFWAY: ConnectionLost,
    FaultKind.HTML: BrokenResponse,
    FaultKind.BROKEN_JSON: BrokenResponse,
    FaultKind.NO_CHOICES: BrokenResponse,
    FaultKind.UNAUTHORIZED: AuthenticationFailed,
    FaultKind.UNKNOWN_MODEL: UnknownModel,
    FaultKind.BAD_REQUEST: BadRequest,
    FaultKind.NO_CREDIT: RequestRefused,
}
SOON = PATIENCE
"""Seconds: far below what goes wrong without the rule (ten minutes, or no end), far above what a busy machine takes."""


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("wire", SDKS)
async def test_every_fault_of_the_wire_has_its_own_error(wire: str, kind: FaultKind) -> None:
    async with provider(wire, faults=[Fault(kind)]) as model:
        with pytest.raises(KINDS[kind]):
            await model.complete(request())


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("wire", THROUGH_LITELLM)
async def test_through_litellm_a_fault_is_refused_or_transient_as_with_the_sdks(wire: str, kind: FaultKind) -> None:
    family = RequestRefused if issubclass(KINDS[kind], RequestRefused) else Transient
    if family is RequestRefused and kind is not FaultKind.NO_CREDIT:
        family = KINDS[kind]
    if kind is FaultKind.NO_USAGE:
        pytest.skip("litellm counts tokens itself where a provider does not")
    async with provider(wire, faults=lambda _: Fault(kind)) as model:
        with pytest.raises(family):
            await model.complete(request())


@pytest.mark.parametrize("fault", FIXED, ids=lambda fault: fault.kind)
@pytest.mark.parametrize("wire", WIRES)
async def test_a_burst_that_passes_is_tried_through(wire: str, fault: Fault) -> None:
    brain = Brain()
    async with provider(wire, brain, faults=[fault] * 3) as model:
        answer = await stack(model).complete(request())
    assert answer.value == ANSWER
    if fault.kind is not FaultKind.STALE and "litellm" not in wire:  # which hides a try after a lost connection
        assert answer.attempts == 4


@pytest.mark.parametrize(
    "kind", [FaultKind.SERVER_ERROR, FaultKind.OVERLOADED, FaultKind.HTML, FaultKind.RESET], ids=str
)
@pytest.mark.parametrize("wire", WIRES)
async def test_a_burst_that_does_not_pass_ends_the_episode(wire: str, kind: FaultKind) -> None:
    begin = time.perf_counter()
    async with provider(wire, faults=lambda _: Fault(kind)) as model:
        with pytest.raises(InfrastructureFailed, match="4 tries"):
            await stack(model).complete(request())
    assert time.perf_counter() - begin < SOON


@pytest.mark.parametrize("wire", WIRES)
async def test_a_retry_after_of_one_second_is_granted(wire: str) -> None:
    async with provider(wire, faults=[Fault(FaultKind.RATE_LIMIT, seconds=1)]) as model:
        begin = time.perf_counter()
        answer = await stack(model).complete(request())
    assert answer.value == ANSWER
    assert 1.0 <= time.perf_counter() - begin < SOON


@pytest.mark.parametrize("wire", WIRES)
async def test_a_retry_after_of_600_seconds_ends_the_episode_at_once(wire: str) -> None:
    async with provider(wire, faults=lambda _: Fault(FaultKind.RATE_LIMIT, seconds=600)) as model:
        begin = time.perf_counter()
        with pytest.raises(InfrastructureFailed, match="600 s"):
            await stack(model).complete(request())
    assert time.perf_counter() - begin < SOON


@pytest.mark.parametrize("fault", [Fault(FaultKind.SILENCE), Fault(FaultKind.DRIP, seconds=0.05)], ids=lambda f: f.kind)
@pytest.mark.parametrize("wire", WIRES)
async def test_no_call_outlives_its_total_deadline(wire: str, fault: Fault) -> None:
    async with provider(wire, faults=lambda _: fault, deadline=0.4) as model:
        begin = time.perf_counter()
        with pytest.raises(TimedOut):
            await model.complete(request())
        assert time.perf_counter() - begin < SOON


@pytest.mark.parametrize("wire", WIRES)
async def test_a_server_that_never_answers_ends_the_episode_within_its_tries(wire: str) -> None:
    async with provider(wire, faults=lambda _: Fault(FaultKind.SILENCE), deadline=0.2) as model:
        begin = time.perf_counter()
        with pytest.raises(InfrastructureFailed, match="TimedOut"):
            await stack(model).complete(request())
    assert time.perf_counter() - begin < SOON


@pytest.mark.parametrize("wire", WIRES)
async def test_a_kept_connection_that_died_is_a_lost_connection(wire: str) -> None:
    async with provider(wire, faults=[Fault(FaultKind.STALE)]) as model:
        assert (await model.complete(request())).text == TEXT
        if wire == "litellm-anthropic":  # which tries again by itself
            assert (await model.complete(request())).text == TEXT
        else:
            with pytest.raises(ConnectionLost):
                await model.complete(request())
        assert (await model.complete(request())).text == TEXT


@pytest.mark.parametrize("wire", WIRES)
async def test_a_port_where_nobody_listens_is_a_lost_connection(wire: str) -> None:
    from tests.agents.llm.wire import client

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # so that no server of another test listens there meanwhile
        async with client(wire, Addresses.at(held.getsockname()[1])) as model:
            with pytest.raises(ConnectionLost if "litellm" not in wire else Transient):
                await model.complete(request())


@pytest.mark.parametrize("kind", [FaultKind.PROSE, FaultKind.CODE_FENCE], ids=str)
@pytest.mark.parametrize("wire", WIRES)
async def test_prose_and_fences_around_an_answer_cost_no_repair(wire: str, kind: FaultKind) -> None:
    async with provider(wire, faults=[Fault(kind)]) as model:
        answer = await stack(model).complete(request())
    assert answer.value == ANSWER
    assert answer.repairs == 0


MENDABLE = [
    (Fault(FaultKind.CUT_OFF), "cut off"),
    (Fault(FaultKind.WRONG_ENUM), 'plan[0].action: "no-such-value" is none of "move", "wait"'),
    (Fault(FaultKind.EMPTY_PLAN), "plan: has 0 items"),
    (Fault(FaultKind.ANSWER, text='{"plan": ['), "no JSON"),
    (Fault(FaultKind.ANSWER, text='{"plan": [{"action": "move", "steps": 99}], "mood": ""}'), "at most 9"),
    (Fault(FaultKind.ANSWER, text=f"{TEXT} or " + TEXT.replace("3", "4")), "2 different objects"),
]


@pytest.mark.parametrize(("fault", "reason"), MENDABLE, ids=lambda part: getattr(part, "kind", None))
@pytest.mark.parametrize("wire", WIRES)
async def test_a_wrong_answer_is_asked_for_again_with_the_reasons(wire: str, fault: Fault, reason: str) -> None:
    brain = Brain()
    async with provider(wire, brain, faults=[fault]) as model:
        answer = await stack(model).complete(request())
    assert answer.value == ANSWER
    assert answer.repairs == 1
    assert reason in brain.asked[1].messages[-1].content
    assert reason in "; ".join(answer.rejected[0].reasons)


@pytest.mark.parametrize("fault", [fault for fault, _ in MENDABLE], ids=lambda fault: fault.kind)
@pytest.mark.parametrize("wire", SDKS)
async def test_an_answer_that_stays_wrong_is_a_parse_failure_and_never_an_answer(wire: str, fault: Fault) -> None:
    brain = Brain()
    async with provider(wire, brain, faults=lambda _: fault) as model:
        with pytest.raises(AnswerInvalid) as caught:
            await stack(model).complete(request())
    assert len(brain.asked) == 3
    assert caught.value.reply.usage.completion == 60
    assert caught.value.reply.value is None


@pytest.mark.parametrize("wire", WIRES)
async def test_refusals_and_cuts_are_named_by_every_wire(wire: str) -> None:
    async with provider(wire, faults=[Fault(FaultKind.CUT_OFF), Fault(FaultKind.REFUSAL)]) as model:
        assert (await model.complete(request())).finish is Finish.LENGTH
        assert (await model.complete(request())).finish is Finish.REFUSAL


@pytest.mark.parametrize(
    "kind", [FaultKind.UNAUTHORIZED, FaultKind.UNKNOWN_MODEL, FaultKind.BAD_REQUEST, FaultKind.NO_CREDIT], ids=str
)
@pytest.mark.parametrize("wire", SDKS)
async def test_what_is_refused_is_asked_once(wire: str, kind: FaultKind) -> None:
    asked = []
    async with provider(wire, faults=lambda number: asked.append(number) or Fault(kind)) as model:
        with pytest.raises(RequestRefused):
            await stack(model).complete(request())
    assert asked == [0]


@pytest.mark.parametrize("wire", WIRES)
async def test_an_unknown_model_and_a_wrong_address_are_distinguished(wire: str) -> None:
    from tests.agents.llm.wire import client, serve
    from tests.loopback import Addresses

    async with serve(Brain()) as addresses:
        async with client(wire, addresses, model="no-such") as model:
            with pytest.raises(UnknownModel, match="no-such"):
                await model.complete(request())
        wrong = Addresses(addresses.openai + "/wrong", addresses.anthropic + "/wrong")
        async with client(wire, wrong) as model:
            with pytest.raises(BadRequest, match="base_url"):
                await model.complete(request())
