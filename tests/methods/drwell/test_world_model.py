"""The world model of DR. WELL: a graph that only grows, what it shows, and how it is kept."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil.memory import Remembers
from maeil.plans import Plan
from quorum.methods.drwell.world_model import Instance, WorldModel
from tests.maeil.corridor import Walk
from tests.methods.drwell.stage import Cast, choose, run, team, walk
from tests.topologies.room import DOOR, GATE


def instance(task="push:a", kinds=("move", "push"), succeeded=True, duration=10, team=1, episode=0, steps=1):
    actions = tuple({"action": kind, "steps": steps} for kind in kinds)
    outcome = "succeeded" if succeeded else "failed"
    return Instance(
        episode=episode, task=task, actions=actions, outcome=outcome, reason="", succeeded=succeeded,
        duration=duration, team=team,
    )  # fmt: skip


instances = st.builds(
    instance,
    task=st.sampled_from(["push:a", "push:b"]),
    kinds=st.lists(st.sampled_from(["move", "meet", "push"]), min_size=1, max_size=3).map(tuple),
    succeeded=st.booleans(),
    duration=st.none() | st.integers(0, 50),
    team=st.integers(1, 3),
    episode=st.integers(0, 2),
)


@given(st.lists(instances, max_size=12), instances)
def test_it_grows_by_what_is_new_and_nothing_is_lost(before, new):
    model = WorldModel([*before])
    model.instances.append(new)
    assert model.instances == [*before, new]
    tried = [one for one in (*before, new) if one.task == new.task]
    assert model.of_task(new.task).attempts == len(tried)
    assert {kinds for kinds, _ in model.prototypes(new.task)} == {one.prototype for one in tried}


@given(st.lists(instances, max_size=12))
def test_what_is_kept_is_what_was_known_and_the_next_episode_has_the_next_number(before):
    model = WorldModel(before, episode=4)
    again = WorldModel.load(orjson.loads(orjson.dumps(model.dump())))
    assert (again.instances, again.episode) == (model.instances, 5)


def test_a_task_is_described_by_attempts_success_rate_and_mean_duration_of_what_came_off():
    model = WorldModel([instance(duration=10), instance(duration=20), instance(succeeded=False, duration=99)])
    found = model.of_task("push:a")
    assert found is not None
    assert found.shown() == {"attempts": 3, "success_rate": 0.67, "mean_steps": 15}
    assert model.of_task("push:b") is None


def test_prototypes_and_instances_are_ranked_by_success_then_by_duration():
    slow, quick = instance(kinds=("meet", "push"), duration=30), instance(duration=10, steps=2)
    failed = instance(kinds=("push",), succeeded=False, duration=2)
    model = WorldModel([failed, slow, quick, slow])
    assert [kinds for kinds, _ in model.prototypes("push:a")] == [("move", "push"), ("meet", "push"), ("push",)]
    found = model.attempts("push:a")
    assert [(tried, known.attempts) for tried, known in found] == [(quick, 1), (slow, 2), (failed, 1)]


def test_plans_that_do_the_same_in_teams_of_different_sizes_are_distinguished():
    model = WorldModel([instance(team=1, succeeded=False), instance(team=2)])
    assert [(tried.team, known.success_rate) for tried, known in model.attempts("push:a")] == [(2, 1), (1, 0)]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([], "valid dictionary"),
        ({"episodes": 1}, "instances: Field required"),
        ({"episodes": 0, "instances": []}, "episodes: "),
        ({"episodes": 1, "instances": [{**instance().model_dump(mode="json"), "team": 0}]}, "instances.0.team: "),
        ({"episodes": 1, "instances": [{**instance().model_dump(mode="json"), "more": 1}]}, "instances.0.more: "),
    ],
)
def test_a_memory_that_is_none_is_refused_with_its_place(data, place):
    with pytest.raises(ValueError, match="not a world model of agents=drwell: ") as caught:
        WorldModel.load(data)
    assert place in str(caught.value)


SURE = {"proposer": choose("gate", "It is shut."), "committer": choose("gate"), "planner": walk(3)}


def test_a_team_keeps_one_memory_and_the_next_one_begins_with_it(tmp_path):
    _, minds = run(Cast({"all": SURE}), tmp_path)
    assert {mind.memory_name for mind in minds} == {"drwell"}
    assert all(isinstance(mind, Remembers) for mind in minds)
    kept = orjson.loads(orjson.dumps(minds[1].remember()))
    assert minds[0].remember() == kept
    model = Cast({"all": SURE})
    _, minds = run(model, tmp_path, memories={"drwell": kept})
    gate = model.asked("proposer")[0]["tasks"][1]
    assert (gate["attempts"], gate["success_rate"]) == (2, 1.0)
    assert model.asked("planner")[0]["instances"][0]["plan"]["status"] == "succeeded"
    assert [each["episode"] for each in minds[0].remember()["instances"]] == [0, 0, 1, 1]


def test_plans_that_the_end_cuts_off_count_by_whether_their_task_is_over(tmp_path):
    world, _, minds = team(Cast({}), tmp_path)
    world.reset(0)
    shared = minds[0].team
    shared.begin(0, GATE, Plan((Walk(steps=3),), GATE), 0)
    shared.begin(1, DOOR, Plan((Walk(steps=1),), DOOR), 0)
    world.cells = [3, 3]
    kept = minds[0].remember()["instances"]
    assert [(each["succeeded"], each["outcome"], each["duration"]) for each in kept] == [
        (True, "succeeded", None),
        (False, "cancelled", None),
    ]
    assert minds[1].remember()["instances"] == kept
