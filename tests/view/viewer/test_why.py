"""Why a plan failed is reported in one sentence, with the events that prove it, and no more than the trace holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import read_trace
from maeil.trace.events import PlanChange
from tests.recorded import recorded_run
from tests.view.viewer.conftest import Open, served

FAILING = ["n=4", "seed=6", "agents=naive", "topology=decentralized", "llm=simulated_faults", "max_steps=80"]
WHY = """async ([plan, page]) => {
  const { whyFailed } = await import(new URL("why.js", document.querySelector("script[src]").src));
  const names = ["agent_0", "agent_1", "agent_2"];
  const actionsOf = names.map(() => []);
  for (const action of page.actions) actionsOf[action.agent].push(action);
  const { Model } = await import(new URL("model.js", document.querySelector("script[src]").src));
  const { listed } = Model.prototype;
  return whyFailed({ plain: page, phrases: {}, actionsOf, listed, name: (agent) => names[agent] }, plan);
}"""
ACTIONS = [{"action": "go", "block": 3}, {"action": "push", "block": 3}]
DELIVER = {"kind": "deliver", "target": "block_3"}


def plan(
    *, agent: int = 0, name: str = "P0.1", t: int = 5, end: tuple[int, str, str] = (9, "failed", "go: no_path")
) -> dict[str, Any]:
    at, status, reason = end
    statuses = [[t, 0, "committed", ""], [at, 0, status, reason]]
    return {"id": name, "agent": agent, "t": t, "t_hat": 0, "task": DELIVER, "actions": ACTIONS, "statuses": statuses}


def attempt(agents: list[int], *missing: str, target: str = "block_3/left") -> dict[str, Any]:
    return {
        "task": {"kind": "push", "target": target},
        "agents": agents,
        "succeeded": not missing,
        "missing": list(missing),
    }


@pytest.fixture(scope="module")
def failing() -> Path:
    return recorded_run(*FAILING)


@pytest.fixture(scope="module")
def address(failing: Path) -> Iterator[str]:
    with served(failing) as found:
        yield found


def why(page: Any, failed: dict[str, Any], **lanes: Any) -> dict[str, Any]:
    empty = {"outcomes": [], "tasks": [], "plans": [], "actions": []}
    found: dict[str, Any] = page.evaluate(WHY, [failed, empty | lanes])
    return found


def test_each_kind_of_proof_is_reported_and_what_lies_outside_the_plan_is_not(address: str, opened: Open) -> None:
    page, _ = opened(address)
    action = {"plan": "P0.1", "agent": 0, "index": 0, "name": "go", "endT": 9, "status": "failed", "reason": "no_path"}
    assert why(page, plan())["words"] == "The plan of agent_0 for deliver block_3 failed at t = 9: no path."
    bare = why(page, plan(), actions=[action])
    assert bare["words"].endswith("failed at t = 9 in action 1 of 2 (go block 3): no path.")
    assert [proof["t"] for proof in bare["proofs"]] == [9]

    by_others = [8, [], [attempt([1, 2])]]
    not_meant = [
        [4, [], [attempt([1])]],
        [10, [], [attempt([1])]],
        [7, [], [attempt([1], target="block_30/left")]],
        [7, [], [attempt([0, 1])]],
    ]
    found = why(page, plan(), outcomes=[by_others, *not_meant])
    assert "agent_1 and agent_2 did push block_3/left at t = 8 without agent_0." in found["words"]
    assert [proof["t"] for proof in found["proofs"]] == [8, 9]
    assert len(why(page, plan(), outcomes=not_meant)["proofs"]) == 1

    vain = why(page, plan(), outcomes=[[7, [], [attempt([0, 1], "participation", "temporal")]]])
    assert "the attempt of agent_0 and agent_1 at t = 7 was missing: participation, temporal." in vain["words"]

    tasks = [
        {
            "name": "push:block_3/left",
            "changes": [[6, 3, 1, 1, 2, 1, 1], [8, 3, 2, 3, 3, 2, 1], [11, 3, 3, 3, 3, 3, 1]],
        },
        {"name": "push:block_3/up", "changes": [[6, 3, 0, 0, 2, 0, 0]]},
    ]
    unmet = why(page, plan(), tasks=tasks)
    assert (
        "at t = 8 push block_3/left had 2 of 3 in place (spatial), 2 of 3 meeting all conditions at once (joint)."
        in unmet["words"]
    )
    over = [{"name": "push:block_3/left", "changes": [[6, 0, 0, 0, 0, 0, 0]]}]
    assert len(why(page, plan(), tasks=over)["proofs"]) == 1

    mate = plan(agent=2, name="P2.1", end=(7, "timed_out", "rendezvous: timeout"))
    late = plan(agent=1, name="P1.1", end=(9, "failed", "x"))
    left = why(page, plan(), plans=[plan(), mate, late])
    assert left["words"].endswith("the plan of agent_2 for it ran out of time at t = 7.")
    assert why(page, plan(end=(9, "succeeded", ""))) is None


def test_the_reader_tells_it_and_leads_to_the_proofs(address: str, failing: Path, opened: Open) -> None:
    page, complaints = opened(address)
    failed = next(
        s for s in read_trace(failing).events if isinstance(s.event, PlanChange) and s.event.status == "failed"
    )
    assert failed.event.agent == 1
    page.evaluate(f"quorum.player.seek({failed.t})")
    page.locator(".events button", has_text="agent_1").filter(has_text="failed").first.click()
    reported = page.locator(".why p").inner_text()
    assert reported.startswith(f"The plan of agent_1 for deliver block_1 failed at t = {failed.t} in action 1 of 3 (")
    assert "block gone" in reported
    proofs = page.locator(".why li").all_inner_texts()
    assert proofs[0].startswith(f"t = {failed.t - 1} agent_2 did push block_1/left"), json.dumps(proofs)
    page.locator(".why button").first.click()
    assert page.evaluate("quorum.player.t") == failed.t - 1
    assert complaints == []
