"""Runs made by hand: one cause, two joint causes, a flip that placebos make too, a budget, and an unlike reference."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from maeil.mind import Act
from maeil.trace import Instant
from quorum.agents.llm.spending import Spent
from quorum.what_if.blame.attempts import BudgetSpent
from quorum.what_if.blame.decisions import Choice, Decision, Decisions
from quorum.what_if.blame.ending import FINISHED, Ending
from quorum.what_if.blame.posterior import NOBODY, Tally
from quorum.what_if.blame.reruns import REFUSED, Correction
from quorum.what_if.blame.search import verdict_of
from quorum.what_if.blame.trials import JOINT, PLACEBOS, Experiment, Suspect
from quorum.what_if.blame.verdict import Verdict

WAIT = {"action": "wait", "steps": 1}
RUNS = 60
PRIOR = (1 - NOBODY) * (1 - JOINT)
"""The prior probability that one of the single decisions is the cause."""
PLAYERS = ("agent_0", "agent_1")


def plan(name: str) -> Choice:
    return Choice(({"action": name},), None, False, ())


def decision(t: int, *, wrong: bool = True) -> Decision:
    other = f"right_{t}" if wrong else f"own_{t}"
    return Decision(PLAYERS[t % 2], t, t, frozenset({Act.PLAN}), plan(f"own_{t}"), plan(other), heard=False)


class Plays:
    """Stands for the world: a run is a success if the rule says so of the names of all scripted actions."""

    success = FINISHED

    def __init__(self, rule: Callable[[list[str]], bool], most: int = 10_000) -> None:
        self._rule, self.left = rule, most

    def ending(self, correction: Correction) -> Ending:
        if not self.left:
            raise BudgetSpent("no more")
        self.left -= 1
        if len(correction.minds) == len(PLAYERS):
            return Ending("success", 1)
        if correction.minds:
            return Ending("truncated", 9)
        actions = [action["action"] for words in correction.words for action in orjson.loads(words.actions or "[]")]
        return Ending(REFUSED if "refuse" in actions else "success" if self._rule(actions) else "truncated", 9)


def played(decisions: list[Decision], rule: Callable[[list[str]], bool], **values: Any) -> Experiment:
    order = [one for one in decisions if one.differs]
    plays: Any = Plays(rule, values.pop("most", 10_000))
    experiment = Experiment(Decisions(tuple(decisions)), PLAYERS, plays, order, dict(WAIT), **values)
    experiment.run(None)
    return experiment


def best(experiment: Experiment) -> tuple[tuple[int, ...], float]:
    *chances, _ = experiment.posterior()
    chance, suspect = max(zip(chances, experiment.suspects, strict=True), key=lambda pair: pair[0])
    return tuple(one.t for one in suspect.decisions), chance


TURNS = [decision(t, wrong=t in (2, 5, 6)) for t in range(12)]


def test_one_cause_is_found_and_each_flip_has_placebos() -> None:
    found = played(TURNS, lambda actions: "right_5" in actions)
    turns, chance = best(found)
    assert turns == (5,)
    assert chance > 0.8
    assert found.singles[1].corrected == Tally(1 + PLACEBOS, 1 + PLACEBOS)
    assert found.singles[1].placebo == Tally(0, PLACEBOS)
    assert not found.joint


def test_a_correction_that_plays_out_the_same_way_every_time_and_fails_is_no_cause() -> None:
    assert played(TURNS, lambda actions: "right_5" in actions).posterior()[0] == 0
    assert played(TURNS, lambda actions: "right_5" in actions, exact=False).posterior()[0] > 0


def test_a_correction_that_saves_the_run_only_just_is_no_cause() -> None:
    """It saves a step, which any wait loses again: without its variants, nothing would show that."""
    found = played(TURNS, lambda actions: actions == ["right_5"])
    assert found.singles[1].corrected == Tally(1, 1 + PLACEBOS)
    assert best(found)[1] < 0.1


def test_a_variant_of_a_correction_keeps_what_else_it_says() -> None:
    one = Decision(
        PLAYERS[0],
        5,
        5,
        frozenset({Act.PLAN, Act.SPEAK}),
        plan("own"),
        replace(plan("right"), says=("go",)),
        heard=True,
    )
    texts = [change.told for change in Suspect((one,)).variants(dict(WAIT), corrected=True)]
    assert len(texts) == PLACEBOS
    assert all(any("right" in word for word in words) and any("go" in word for word in words) for words in texts)
    own = [change.told for change in Suspect((one,)).variants(dict(WAIT), corrected=False)]
    assert all(len(words) == 1 and "own" in words[0] for words in own)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_where_each_change_saves_the_run_by_luck_alone_hardly_ever_anybody_is_named(share: float, exact: bool) -> None:
    """With the single draw of corrections in version 0.25, 31, 48 and 41 % of such exact runs named somebody."""
    named = 0
    for seed in range(RUNS):
        turns = [decision(t, wrong=t < 2 + seed % 11) for t in range(60)]

        def lucky(actions: list[str], seed: int = seed) -> bool:
            return random.Random(f"{seed} {actions}").random() < share

        found = verdict(played(turns, lucky, exact=exact))
        named += found.agent is not None and (found.probability or 0) >= 0.8
    assert named <= 0.05 * RUNS


def test_a_flip_that_placebos_make_too_is_no_cause() -> None:
    found = played(TURNS, lambda actions: "right_5" in actions or ("own_5" in actions and "wait" in actions))
    assert found.singles[1].placebo.wins == PLACEBOS
    assert best(found)[1] < found.posterior()[-1]


def test_two_decisions_that_only_together_save_the_run_are_joint_causes() -> None:
    found = played(TURNS, lambda actions: {"right_2", "right_5"} <= set(actions))
    turns, chance = best(found)
    assert turns == (2, 5)
    assert chance > 0.5
    pair = next(suspect for suspect in found.joint if len(suspect.decisions) == 2)
    correction = pair.correction()
    assert correction is not None
    assert correction.at == Instant(2, 2)
    assert [str(words).partition(":")[0] for words in correction.words] == ["--plan agent_0", "--plan agent_1@5"]


def test_where_no_correction_helps_no_decision_is_the_answer() -> None:
    found = played(TURNS, lambda _: False)
    assert found.posterior()[-1] > 0.99


def test_a_budget_leaves_what_was_not_tried_its_probability() -> None:
    found = played(TURNS, lambda actions: "right_6" in actions, most=2)
    assert found.why_cut == "no more"
    *chances, _ = found.posterior()
    assert chances[0] == 0
    assert chances[1] == chances[2] == pytest.approx(PRIOR / 3, rel=0.02)


def test_the_more_the_reference_differs_the_less_sure_the_same_flip_is() -> None:
    few, many = ([decision(t, wrong=t < wrong) for t in range(12)] for wrong in (2, 12))
    sure, unsure = (best(played(turns, lambda actions: "right_1" in actions)) for turns in (few, many))
    assert sure[0] == unsure[0] == (1,)
    assert unsure[1] < sure[1]


def test_a_change_that_the_world_refuses_is_no_trial() -> None:
    turns = [*TURNS[:5], Decision(**{**_values(TURNS[5]), "other": plan("refuse")}), *TURNS[6:]]
    found = played(turns, lambda _: False)
    assert found.singles[1].corrected.draws == 0
    assert found.posterior()[1] == pytest.approx(PRIOR / 3, rel=0.02), "it keeps its probability"


def _values(decision: Decision) -> dict[str, Any]:
    return {name: getattr(decision, name) for name in Decision.__dataclass_fields__}


@pytest.mark.parametrize(("draws", "corrected"), [(1, 1 + PLACEBOS), (3, 5), (8, 8)])
def test_with_luck_each_arm_has_its_draws(draws: int, corrected: int) -> None:
    found = played(TURNS, lambda actions: "right_5" in actions, draws=draws, exact=False)
    assert found.singles[1].corrected.draws == corrected
    assert found.singles[1].placebo.draws == max(draws, PLACEBOS)
    assert 0 < found.posterior()[0] < best(found)[1]


def test_a_correction_that_only_avoids_a_later_mistake_is_cleared_by_holding_that_one() -> None:
    def avoided(actions: list[str]) -> bool:
        return "right_5" in actions or ("right_2" in actions and "own_5" not in actions)

    found = played(TURNS, avoided)
    assert [one.corrected for one in found.singles] == [Tally(0, 1), Tally(5, 5), Tally(0, 1)]
    turns, chance = best(found)
    assert turns == (5,)
    assert chance > 0.8


def test_corrections_that_each_save_the_run_share_the_probability_and_the_earlier_comes_first() -> None:
    found = played(TURNS, lambda actions: bool({"right_2", "right_5"} & set(actions)))
    first, second, _, nobody = found.posterior()
    assert first == second > nobody
    assert best(found)[0] == (2,)


def test_each_draw_has_its_own_luck_the_same_in_both_arms() -> None:
    asked: list[Correction] = []

    class Lots(Plays):
        def ending(self, correction: Correction) -> Ending:
            asked.append(correction)
            return super().ending(correction)

    plays: Any = Lots(lambda actions: "right_5" in actions)
    order = [one for one in TURNS if one.differs]
    found = Experiment(Decisions(tuple(TURNS)), PLAYERS, plays, order, dict(WAIT), draws=5, luck=True, exact=False)
    found.run(None)
    there = [one for one in asked if one.at == Instant(5, 5) and not one.minds]
    for placebo in (False, True):
        arm = [one for one in there if ("right_5" not in str(one.told)) is placebo]
        assert [(one.luck, one.draw) for one in arm] == [(True, draw) for draw in range(5)]
        assert len({one.key for one in arm}) == len(arm)


def verdict(experiment: Experiment) -> Verdict:
    reference = SimpleNamespace(players=PLAYERS, label="heuristic")
    reruns: Any = SimpleNamespace(reference=reference, command=lambda *_: "")
    plays: Any = experiment.attempts
    plays.known, plays.spent = set(), Spent()
    return verdict_of(experiment, (), reruns, lambda _: "idle", 10)


def test_the_sum_names_an_agent_where_none_of_its_turns_is_probable() -> None:
    turns = [decision(t, wrong=t % 2 == 1 and t < 16) for t in range(60)]
    found = verdict(played(turns, lambda actions: any(action.startswith("right") for action in actions)))
    assert (found.agent, found.t) == ("agent_1", None)
    assert found.probability == found.agents["agent_1"]
    assert found.probability == pytest.approx(1 - (found.nobody or 0), abs=1e-6)
    assert found.agents["agent_0"] == 0
    assert max(cause.probability for cause in found.causes) < (found.nobody or 0) < 0.5


def test_a_search_that_was_cut_names_nobody_by_what_it_has_not_tried() -> None:
    found = verdict(played(TURNS, lambda _: False, most=2))
    assert (found.agent, found.nobody, found.probability) == (None, None, None)
    assert found.untried == 2
    assert sum(found.agents.values()) == pytest.approx(found.unknown)
