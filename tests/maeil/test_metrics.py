import subprocess
import sys
from dataclasses import replace

import pytest

from maeil import LoopSettings, Plan, Task, Thought
from maeil.metrics import METRICS, compute_metrics
from maeil.metrics.registry import GROUPS
from maeil.trace import Trace
from maeil.world import Progress
from quorum_base.components import shipped
from tests.conftest import environment
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, play, walk


def metrics(events):
    return compute_metrics(Trace(tuple(events)))


def test_outcome_by_hand():
    found = metrics(play([Scripted(walk(3)), Scripted(walk(2), walk(1))], Corridor(2, length=3, max_steps=2)))
    assert found["outcome.success"] is False
    assert (found["outcome.reached"], found["outcome.goals"], found["outcome.completion"]) == (0, 2, 0.0)
    assert found["outcome.steps"] == 2
    assert found["outcome.score"] == 4.0
    assert found["outcome.return"] == 2.0


def test_the_score_along_the_steps_by_hand():
    class Swinging(Corridor):
        """Reaches its one goal at the second step, and loses it again."""

        def progress(self):
            return [Progress(0, 1, 0.0), Progress(0, 1, 0.5), Progress(1, 1, 1.0), Progress(0, 1, 0.3)][self.t]

    found = metrics(play([Scripted(walk(3))], Swinging(1, length=3)))
    assert found["outcome.best_score"] == 1.0
    assert found["outcome.mean_score"] == pytest.approx((0.5 + 1.0 + 0.3) / 3)
    assert found["outcome.steps_to_goals"] == 2
    assert found["outcome.score"] == 0.3
    never = metrics(play([Scripted(walk(3))], Corridor(1, length=3, max_steps=2)))
    assert never["outcome.steps_to_goals"] is None


def test_steps_of_an_episode_that_did_not_finish_count_as_the_limit():
    class Limited(Corridor):
        """Is lost after a step, and reports its limit."""

        def reset(self, seed):
            return {**super().reset(seed), "max_steps": 9}

    def found(world, steps):
        values = metrics(play([Scripted(walk(steps))], world))
        return values["outcome.steps"], values["outcome.steps_to_finish"], values["outcome.steps_or_limit"]

    assert found(Limited(1, length=3), 3) == (3, 3, 3)
    assert found(Limited(1, length=3, max_steps=1), 3) == (1, None, 9)


def test_runtime_is_the_wall_time_up_to_the_last_event():
    events = play([Scripted(walk(4))], Corridor(1, length=4))
    events = [replace(event, wall=0.5 * place) for place, event in enumerate(events)]
    found = metrics(events)
    assert found["outcome.seconds"] == events[-1].wall == 0.5 * (len(events) - 1)
    assert not METRICS["outcome.seconds"].reproducible


def test_plans_by_hand():
    falls = Thought(Plan((Walk(steps=1), Walk(steps=2, fails_at=1))))
    found = metrics(play([Scripted(falls, walk(1)), Scripted(walk(3))]))
    # agent 0: a plan of two actions that fails at t = 2, then one of one action; agent 1: one plan; all end by t = 3
    assert found["plans.number"] == 3
    assert found["plans.failed"] == 1
    assert found["plans.success_rate"] == pytest.approx(2 / 3)
    assert found["plans.timed_out"] == 0
    assert found["plans.stability"] == 1.0


def test_plans_cut_off_by_the_end_are_in_no_rate():
    found = metrics(play([Scripted(walk(3))], Corridor(1, length=3, max_steps=1)))
    assert found["plans.number"] == 1
    assert found["plans.success_rate"] is None


def test_invalid_plans_are_counted():
    found = metrics(play([Scripted(Thought())], Corridor(1, max_steps=2), settings=LoopSettings(max_repairs=0)))
    assert found["plans.invalid"] == 2


def test_coherence_is_the_share_of_the_most_common_task():
    def to(target):
        return Thought(Plan((Walk(steps=2), Walk()), Task("go", target)))

    found = metrics(play([Scripted(to("a")), Scripted(to("a")), Scripted(to("b")), Scripted(walk(3))]))
    assert found["plans.coherence"] == pytest.approx(2 / 4)


def test_agents_without_a_task_agree_with_nobody():
    assert metrics(play([Scripted(walk(3)), Scripted(walk(3))]))["plans.coherence"] == pytest.approx(1 / 2)


def test_a_number_without_a_unit_is_a_rate_or_a_quotient_without_bounds():
    assert {name for name, metric in METRICS.items() if not metric.unit and not metric.rate} == {
        "outcome.steps_over_lower_bound", "failure.per_plan",
    }  # fmt: skip
    assert not [name for name, metric in METRICS.items() if metric.rate and metric.unit]
    assert METRICS["outcome.success"].rate, "a share is a rate"


def test_every_metric_says_what_it_is_and_survives_a_prefix():
    events = play([Scripted(walk(3))])
    for name, metric in METRICS.items():
        assert len(metric.description) > 10, name
        assert "partial(" not in metric.description, name
        for cut in range(1, len(events)):
            if not metric.on_demand:
                metric.function(Trace(tuple(events[:cut])))


def test_metrics_of_satellites_are_imported_by_the_first_look_up_and_every_group_has_its_place():
    probe = "import sys\nfrom maeil.metrics import METRICS\nbefore = {*sys.modules}\n"
    probe += "groups = dict.fromkeys(one.group for one in METRICS.values())\n"
    probe += "print(*before)\nprint(*sys.modules)\nprint(*groups)"
    done = subprocess.run([sys.executable, "-c", probe], env=environment(), capture_output=True, text=True, check=True)
    before, after, groups = (line.split() for line in done.stdout.splitlines())
    satellites = {*shipped("metrics").values()}
    assert satellites <= {*after}
    assert not [name for name in before if name.startswith("quorum.")]
    assert groups == list(GROUPS), "files of runs must not depend on the order of imports"
