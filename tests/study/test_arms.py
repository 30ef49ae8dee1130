"""The arms of a study: what each sets, around the arm that the user gives."""

from __future__ import annotations

import pytest

from quorum.study.arms import Arm, Treatment, arms_of, experiment_of
from quorum.study.question import TREATMENT, load_question, question_names
from quorum.sweeps.plan import plan_experiment
from quorum_base.user_errors import UserError

TEAM = ("agents=naive", "agents.max_actions=6", "topology=debate", "topology.rounds=2", "n=3", "llm.poor=0.2")


def arms(question: str, *words: str) -> dict[str, Arm]:
    return dict(arms_of(load_question(question), Treatment.of(words)))


def test_the_treatment_is_what_the_user_gives_and_comes_first() -> None:
    found = arms("talk", *TEAM, "seed=range(3,5)", "draw=range(0,2)")
    assert next(iter(found)) == TREATMENT
    assert found[TREATMENT].words == TEAM
    assert found[TREATMENT].draws == (0, 1)


def test_again_is_the_same_team_and_every_arm_has_draws_of_its_own_that_more_draws_keep() -> None:
    found, more = (arms("talk", *TEAM, f"draw=range(0,{draws})") for draws in (3, 5))
    assert found["again"].words == TEAM
    every = [draw for arm in more.values() for draw in arm.draws]
    assert len(every) == len(set(every)) == 5 * len(more)
    assert all(more[name].draws[:3] == arm.draws for name, arm in found.items())


def test_an_option_in_an_arm_takes_the_values_of_its_group_along() -> None:
    found = arms("talk", *TEAM)
    assert set(found["silent"].words) == {*TEAM, "topology=individual"} - {"topology=debate", "topology.rounds=2"}
    assert set(found["idle"].words) == {"n=3", "llm.poor=0.2", "agents=idle", "topology=individual"}


@pytest.mark.parametrize("control", ["mute", "null", "own", "shuffled", "truth"])
def test_a_control_arm_is_the_treatment_with_one_extension_more(control: str) -> None:
    words = (*TEAM, "extension=repair", "extension.repair.mode=notice")
    found = arms("talk", *words)[control]
    assert set(found.words) == {*words, f"extension=[repair,{control}]"} - {"extension=repair"}
    assert found.donors == (control == "shuffled")


def test_the_reference_is_the_planner_where_the_world_has_one_and_else_its_heuristic() -> None:
    assert "agents=planner" in arms("talk", *TEAM)["reference"].words
    assert "agents=heuristic" in arms("talk", *TEAM, "env=crafter_coop")["reference"].words


@pytest.mark.parametrize("question", question_names())
def test_chance_is_the_team_itself_with_drawn_answers_or_drawn_plans_where_no_model_is_asked(question: str) -> None:
    assert set(arms(question, *TEAM)["chance"].words) == {*TEAM, "llm=random"} - {"llm.poor=0.2"}
    rules = arms(question, "agents=negotiator", "topology=debate", "n=3")["chance"]
    assert set(rules.words) == {"agents=random", "topology=individual", "n=3"}
    (effect,) = [effect for effect in load_question(question).effects if effect.name == "above chance"]
    assert (effect.plus, effect.minus) == (TREATMENT, "chance")


def test_one_mind_is_tried_several_times_and_a_team_of_its_kind_has_one_member_alone() -> None:
    found = arms("team", *TEAM)
    assert len(found["solo"].draws) >= 4
    assert "agents.members.agent_1=idle" in found["alone"].words
    assert "agents.members.agent_0=idle" not in found["alone"].words


def test_each_kind_of_mind_in_a_team_is_alone_in_an_arm() -> None:
    found = arms("team", *TEAM, "agents.members.agent_1=heuristic")
    assert [name for name in found if name.startswith("alone")] == ["alone agent_0", "alone agent_1"]
    assert "agents.members.agent_1=heuristic" in found["alone agent_1"].words
    assert "agents.members.agent_1=idle" in found["alone agent_0"].words


@pytest.mark.parametrize("question", question_names())
def test_every_effect_is_of_two_arms_of_its_question(question: str) -> None:
    found = load_question(question)
    named = {TREATMENT, "best_of", *found.arms}
    assert {arm for effect in found.effects for arm in (effect.plus, effect.minus)} <= named


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (("n=2,4",), "n=2,4: a study is about one team"),
        (("experiment=quickstart",), "experiment=quickstart: a study makes its own arms"),
        (("seed=a",), "seed=a: give whole numbers"),
        (("topology=individual", "agents=naive"), "topology=individual: nobody talks in this team"),
        (("topology=debate", "agents=heuristic"), "the minds of this team do not talk"),
        (("nn=3",), "nn: there is no such key"),
    ],
)
def test_a_mistake_is_named(words: tuple[str, ...], reported: str) -> None:
    with pytest.raises(UserError) as caught:
        arms("talk", *words)
    assert reported in str(caught.value)


def test_there_is_no_such_question() -> None:
    with pytest.raises(UserError, match=r"study tlk: there is no such question\n.*talk"):
        load_question("tlk")


def test_arms_are_played_on_the_same_boards_each_in_its_draws() -> None:
    found = arms("talk", *TEAM, "seed=range(0,2)")
    planned = plan_experiment(experiment_of({name: found[name] for name in (TREATMENT, "again")}, [4, 7], ()), ())
    cells = [(cell.arm, cell.cell().seed, cell.cell().configuration.draw) for cell in planned.cells]
    assert cells == [(TREATMENT, 4, 0), (TREATMENT, 7, 0), ("again", 4, 1_000), ("again", 7, 1_000)]
