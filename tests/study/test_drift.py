"""Whether a service still answers alike: the same prompts, asked again of a server that changes, or does not."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.records import request_key
from quorum.agents.llm.spending import Budget
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.study.drift import SAMPLE, Recorded, ask_again, repetition
from quorum.study.drift_verdict import LEVEL, Agreement, Drift, decision
from quorum.verbs.check import check
from quorum_base.user_errors import UserError
from tests.serving import served

TEAM = ("agents=naive", "topology=debate", "n=6", "max_steps=20", "max_repairs=0")
SHORT = ("agents=naive", "topology=individual", "n=1", "max_steps=3")
WITHOUT_LIMIT = Budget()


class Service:
    """A service that a test changes: its way to answer, and its build."""

    def __init__(self) -> None:
        self._brain = SimulatedModel(
            SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 0})
        )
        self.way, self.build, self.asked = "same", "fp_1", 0
        self.times: Counter[str] = Counter()

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        reply = await self._brain.complete(request)
        value = json.loads(reply.text)
        if self.way == "other words":
            value["thoughts"] = "I say it in other words."
        elif self.way == "other plans":
            value["thoughts"], value["messages"] = "I changed my mind.", [{"kind": "ack"}]
        elif self.way == "noisy":
            key = request_key(request)
            self.times[key] += 1
            value["thoughts"] = random.Random(f"{key}/{self.times[key]}").choice(["one", "two"])
        elif self.way == "never twice":
            value["thoughts"] = f"word{self.asked}"
        return replace(reply, text=json.dumps(value), fingerprint=self.build)


@pytest.fixture(scope="module")
def service() -> Service:
    return Service()


@pytest.fixture(scope="module")
def address(service: Service) -> Iterator[str]:
    with served(service) as addresses:
        yield addresses.openai


def record(service: Service, address: str, out: Path, *words: str, way: str = "same", key: str = "null") -> Path:
    service.way = way
    own = ["llm=openai", f"llm.base_url={address}", "llm.model=simulated", f"llm.api_key_env={key}", "llm.cache=false"]
    return run_cell(Cell.compose([*own, "llm.prices={input: 1, output: 2}", *words]), out).folder


@pytest.fixture(scope="module")
def run(service: Service, address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(service, address, tmp_path_factory.mktemp("runs"), *TEAM)


def drift(run: Path, service: Service, way: str) -> Drift:
    service.way = way
    return ask_again(repetition(run), WITHOUT_LIMIT)


def test_a_service_that_answers_alike_shows_no_drift(run: Path, service: Service) -> None:
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    asked = service.asked
    found = drift(run, service, "same")
    assert service.asked - asked == 2 * SAMPLE == 2 * len(found.requests)
    assert (found.texts, found.decisions) == (Agreement(20, 40, 20, 0, 0, 20),) * 2
    assert not found.changed
    assert found.verdict.startswith("no drift found: of the decisions that the service repeats today, at most 14%")
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_service_that_decides_differently_shows_drift(run: Path, service: Service) -> None:
    service.build = "fp_2"
    found = drift(run, service, "other plans")
    service.build = "fp_1"
    assert found.changed
    assert found.decisions.p == pytest.approx(3.0**-20)
    assert found.verdict.startswith("drift: the service decides differently now")
    plain = found.to_json()
    assert plain["model"] == ["simulated", "simulated"]
    assert plain["fingerprint"] == ["fp_1", "fp_2"]
    assert (plain["decisions"]["then_now"], plain["decisions"]["now_now"], plain["changed"]) == (0, 20, True)
    assert any(line.split() == ["equal", "texts", "0", "of", "40", "20", "of", "20"] for line in found.lines())
    assert json.loads((run / "meta.json").read_text())["fingerprints"] == ["fp_1"]


def test_other_words_for_the_same_decision_are_drift_of_texts_alone(run: Path, service: Service) -> None:
    found = drift(run, service, "other words")
    assert (found.texts.changed, found.decisions.changed) == (True, False)
    assert "words its answers differently" in found.verdict
    assert found.verdict.endswith("decisions show no drift")


def test_a_service_that_was_always_noisy_shows_no_drift(service: Service, address: str, tmp_path: Path) -> None:
    noisy = record(service, address, tmp_path, *TEAM, way="noisy")
    found = drift(noisy, service, "noisy")
    assert 0 < found.texts.now_now < 20
    assert found.texts.two_equal > 10
    assert not found.changed


def test_a_service_that_never_repeats_itself_leaves_nothing_to_say(run: Path, service: Service) -> None:
    found = drift(run, service, "never twice")
    assert not found.changed
    assert found.verdict.startswith("inconclusive: today the service repeats its decision in 0 of 20 prompts")


def test_the_sample_is_always_the_same_and_its_cost_is_known_before(run: Path) -> None:
    one, other = repetition(run), repetition(run)
    assert one == other
    assert one.recorded >= len(one.calls) == SAMPLE
    usage = [call.reply.usage for call in one.calls]
    assert one.usd == pytest.approx(2 * sum(u.prompt + 2 * u.completion for u in usage) / 1e6)
    assert one.expectation.startswith("expected: about 40 answers, ")


def test_a_prompt_is_asked_as_it_was(run: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Request] = []
    answer = service.complete

    async def listen(request: Request) -> Reply:
        seen.append(request)
        return await answer(request)

    monkeypatch.setattr(service, "complete", listen)
    drift(run, service, "same")
    wanted = {tuple(m.content for m in call.request.messages) for call in repetition(run).calls}
    assert {tuple(m.content for m in request.messages) for request in seen} == wanted


def test_a_batch_is_asked_again_one_by_one_at_the_usual_price(run: Path) -> None:
    one = repetition(run)
    batch = [replace(call, reply=replace(call.reply, tier="batch")) for call in one.calls]
    assert replace(one, calls=batch).usd == one.usd


def test_a_conversation_is_asked_again_as_it_was(service: Service, address: str, tmp_path: Path) -> None:
    found = repetition(
        record(
            service,
            address,
            tmp_path,
            "agents=naive",
            "n=2",
            "topology=debate",
            "max_steps=5",
            "agents.memory=conversation",
        )
    )
    assert {call.request.carry for call in found.calls} == {True}
    assert max(len(call.request.messages) for call in found.calls) > 2


def test_a_budget_that_is_too_small_is_refused_before_anything_is_asked(run: Path, service: Service) -> None:
    asked = service.asked
    for budget, words in (
        (Budget(calls=39), "--budget-calls 39: this needs 40 calls"),
        (Budget(usd=1e-6), "--budget-usd 1e-06"),
    ):
        with pytest.raises(UserError, match=words):
            ask_again(repetition(run), budget)
    assert service.asked == asked


def test_a_run_that_no_service_answered_is_refused(run: Path, tmp_path: Path) -> None:
    silent = run_cell(Cell.compose(["n=1", "max_steps=2"]), tmp_path).folder
    with pytest.raises(UserError, match="no service answered in this run"):
        repetition(silent)
    replayed = run_cell(Cell.compose([*TEAM, "llm=replay", f"llm.run={run}"]), tmp_path).folder
    with pytest.raises(UserError, match="its answers are replayed") as caught:
        repetition(replayed)
    assert f"quorum check --drift {run}" in caught.value.hint
    with pytest.raises(UserError, match="there is no such folder"):
        repetition(tmp_path / "nowhere")
    with pytest.raises(UserError, match="it is not a run") as caught:
        repetition(tmp_path)
    assert str(silent) in caught.value.hint


def test_a_service_that_is_gone_and_a_key_that_is_missing_are_reported(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "secret")
    with served(service) as addresses:
        run = record(service, addresses.openai, tmp_path, *SHORT, "llm.tries=1", key="A_KEY")
    assert "with the key in A_KEY" in repetition(run).expectation
    with pytest.raises(UserError, match="onnect") as caught:
        ask_again(repetition(run), WITHOUT_LIMIT)
    assert "Is a server running at " in caught.value.hint
    monkeypatch.delenv("A_KEY")
    with pytest.raises(UserError, match="A_KEY"):
        ask_again(repetition(run), WITHOUT_LIMIT)


def test_damaged_calls_are_reported(service: Service, address: str, tmp_path: Path) -> None:
    run = record(service, address, tmp_path, *SHORT)
    calls = run / "calls.jsonl"
    calls.write_bytes(calls.read_bytes().replace(b'"max_tokens":', b'"max_tokens":1', 1))
    with pytest.raises(UserError, match=r"calls\.jsonl: damaged: it is not what the run wrote"):
        repetition(run)
    meta = json.loads((run / "meta.json").read_text())
    del meta["files"]["calls.jsonl"]
    (run / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(UserError, match=r"calls\.jsonl is damaged: a request does not match its key"):
        repetition(run)


def test_two_wordings_of_one_plan_are_one_decision(run: Path) -> None:
    call: Recorded = next(c for c in repetition(run).calls if '"messages"' in c.reply.text)
    value = json.loads(call.reply.text)
    same = json.dumps({**value, "thoughts": "It is said in a different way."}, indent=2)
    assert decision(call.request, replace(call.reply, text=same)) == decision(call.request, call.reply)
    value["messages"] = []
    assert decision(call.request, replace(call.reply, text=json.dumps(value))) != decision(call.request, call.reply)


def test_agreement_counts_pairs_and_its_test_is_exact() -> None:
    found = Agreement.of([("a", "a", "a"), ("b", "a", "a"), ("a", "a", "b"), ("a", "b", "a"), ("a", "b", "c")])
    assert found == Agreement(prompts=5, then_now=4, now_now=2, two_equal=3, odd=1, kept=1)
    assert found.p == pytest.approx(1 - (2 / 3) ** 3)
    four = Agreement.of([("b", "a", "a")] * 4)
    assert (four.p, four.changed) == (pytest.approx(1 / 81), True)
    assert not Agreement.of([("b", "a", "a")] * 3).changed
    assert Agreement.of([("a", "a", "a")] * 20).most == pytest.approx(1 - 0.05 ** (1 / 20))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_noise_is_rarely_taken_for_drift(share: float) -> None:
    dice = random.Random(1)
    found = [Agreement.of([tuple(dice.random() < share for _ in range(3)) for _ in range(20)]) for _ in range(1000)]
    assert sum(one.changed for one in found) / 1000 <= LEVEL


def test_the_command_shows_it_and_ends_as_it_found(
    run: Path, service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    service.way = "other plans"
    with pytest.raises(typer.Exit) as ended:
        check([], drift=run, budget_usd=1.0)
    assert ended.value.exit_code == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("expected: about 40 answers, ")
    assert printed.out.splitlines()[-1].startswith("drift: ")
    service.way = "same"
    check([], drift=run, as_json=True)
    assert json.loads(capsys.readouterr().out)["changed"] is False


def test_what_does_not_go_with_it_is_refused(run: Path) -> None:
    for words, options in ((["n=2"], {"drift": run}), ([], {"drift": run, "prices": True})):
        with pytest.raises(UserError, match="one of the three"):
            check(words, **options)
    with pytest.raises(UserError, match="a budget is for --drift"):
        check([], budget_calls=1)
