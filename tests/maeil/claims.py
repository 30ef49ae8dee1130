"""Checks each claim of `maeil.trace.explanation` against the raw events of a trace, with no function of the product.

A sentence that this module cannot read is an error, so that no claim stays unchecked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Json = Mapping[str, Any]

OUTCOMES = {
    "Time was up": "truncated",
    "The budget was used up": "budget",
    "An error ended the run": "error",
    "The run ended in failure": "failure",
}
CAUSES = {
    "its prerequisites were not met": "dependency",
    "too few agents were committed to it": "participation",
    "too few agents were in place": "spatial",
    "too few agents acted at the same time": "temporal",
    "too few agents were in place, able and acting at once": "joint",
}
CUT = "the episode ended before this thought could take effect"
FALLBACKS = {"invalid_plan", "parse_failure", "empty_answer", "forced_ready"}


class Facts:
    """What the events of a trace say, derived again from their JSON."""

    def __init__(self, events: Sequence[Json]) -> None:
        self.events = events
        self.start, self.end = events[0], events[-1]
        self.steps = sum(event["event"] == "step" for event in events)
        self.names = [*self.start["agents"], *self.start["coordinators"]]
        self.attempts = [(event["t"], attempt) for event in self.of("outcome") for attempt in event["attempts"]]
        self.plans = [event for event in self.of("plan") if event["status"] == "committed"]
        self.reports: dict[str, Json] = {event["task"]["target"]: event for event in self.of("constraint")}

    def of(self, kind: str) -> list[Json]:
        return [event for event in self.events if event["event"] == kind]

    def tried(self, target: str) -> list[tuple[int, Json]]:
        return [(t, one) for t, one in self.attempts if one["task"]["target"].split("/")[0] == target]

    def planned(self, target: str) -> list[Json]:
        return [plan for plan in self.plans if plan["task"] and plan["task"]["target"].split("/")[0] == target]

    def ways(self, target: str) -> dict[str, Json]:
        return {
            way: report
            for way, report in self.reports.items()
            if way.split("/")[0] == target and report["threshold"] > 0
        }

    def at(self, way: str, t: int) -> Json:
        """The report that holds in a step."""
        return [one for one in self.of("constraint") if one["task"]["target"] == way and one["t"] <= t][-1]


def check(events: Sequence[Json], sentences: Iterable[tuple[int, str]]) -> None:
    """Check that every claim of these sentences is true of a trace."""
    facts = Facts(events)
    assert facts.end["outcome"] != "success"
    for _, words in sentences:
        found = [(read, match) for pattern, read in SENTENCES if (match := re.fullmatch(pattern, words, re.DOTALL))]
        assert len(found) == 1, f"nobody checks: {words}"
        read, match = found[0]
        read(facts, match)


def split(text: str) -> tuple[list[str], int]:
    """The names in a list, and the number of others."""
    names = [name for part in text.split(" and ") for name in part.split(", ")]
    if found := re.fullmatch(r"(\d+) others", names[-1]):
        return names[:-1], int(found[1])
    return names, 0


def _ending(facts: Facts, found: re.Match[str]) -> None:
    how, steps, reason, reached, goals, last, most, at = found.groups()
    assert facts.end["outcome"] == OUTCOMES[how]
    assert int(steps) == facts.steps == facts.end["steps"]
    if kinds := re.fullmatch(r"last step: (.*)", reason or ""):
        assert (facts.end["outcome"], facts.end["reason"]) == ("failure", "")
        last_step = [
            one["what"] for event in facts.of("outcome") if event["t"] == facts.steps - 1 for one in event["outcomes"]
        ]
        named, others = split(kinds[1])
        assert set(named) <= set(last_step)
        assert len(named) + others == len(set(last_step))
    else:
        assert facts.end["reason"].startswith((reason or "").rstrip("\u2026"))
    scores = facts.of("score")
    if reached is not None:
        assert (scores[-1]["reached"], scores[-1]["goals"]) == (int(reached), int(goals))
    if last is not None:
        rises = [b["t"] for a, b in pairwise(scores) if b["reached"] > a["reached"]]
        assert int(last) == max(rises) - 1
    if most is not None:
        assert int(most) == max(score["reached"] for score in scores) > int(reached)
        assert int(most) == [score["reached"] for score in scores if score["t"] <= int(at) + 1][-1]


def _refused(facts: Facts, found: re.Match[str]) -> None:
    result, number, of, times, reason = found.groups()
    ends = facts.of("thought_end")
    refused = [end["refused"] for end in ends if end["refused"] and end["refused"] != [CUT]]
    assert (int(number), int(of)) == (len(refused), len(ends))
    counts = Counter(why for reasons in refused for why in reasons)
    assert int(times) == max(counts.values())
    short = reason.rstrip("\u2026")
    assert any(why.startswith(short) and count == int(times) for why, count in counts.items())
    if result:
        assert all(plan["flag"] in FALLBACKS for plan in facts.plans)
    else:
        assert 2 * int(number) >= int(of)


def _idle(facts: Facts, found: re.Match[str]) -> None:
    own = [action["action"] for plan in facts.plans for action in plan["actions"]]
    assert own
    assert set(own) == {found[1]}
    assert not facts.attempts
    assert not any(plan["task"] for plan in facts.plans)


def _others(facts: Facts, words: str, before: int, but: str) -> None:
    """Check where all attempts before a step were."""
    found = re.fullmatch(r"(?:the only attempt was|both attempts were|all (\d+) attempts were) at (.*)", words)
    assert found is not None, words
    targets = [one["task"]["target"].split("/")[0] for t, one in facts.attempts if t < before]
    assert but not in targets
    expected = int(found[1]) if found[1] else 2 if words.startswith("both") else 1
    assert len(targets) == expected
    named, others = split(found[2])
    assert set(named) <= set(targets)
    assert len(named) + others == len(set(targets))


def _untouched(facts: Facts, found: re.Match[str]) -> None:
    verbs, targets, instead = found.groups()
    assert verbs == "tried" or names_all(facts)
    named = re.findall(r"(\S+) \(needs (at least )?(\d+) agents?\)", targets)
    assert named
    for target, at_least, needs in named:
        _open(facts, target, at_least, needs)
        assert not facts.tried(target)
        assert not facts.planned(target)
    if others := re.search(r"(\d+) others", targets):
        untouched = {way.split("/")[0] for way, report in facts.reports.items() if report["threshold"] > 0} - {
            one["task"]["target"].split("/")[0] for _, one in facts.attempts
        }
        untouched -= {plan["task"]["target"].split("/")[0] for plan in facts.plans if plan["task"]}
        assert len(named) + int(others[1]) == len(untouched)
    if instead:
        _others(facts, instead, facts.steps, "")


def names_all(facts: Facts) -> bool:
    """Whether each plan of a mind names a task, so that a plan for a task cannot be unnamed."""
    return all(plan["task"] or plan["flag"] in FALLBACKS for plan in facts.plans)


def fewest(report: Json) -> int:
    """The smallest number of agents that reach a threshold together."""
    if report.get("weights") is None:
        return -int(-report["threshold"] // 1)
    total, count = 0.0, 0
    for weight in sorted(report["weights"], reverse=True):
        if total >= report["threshold"]:
            break
        total, count = total + weight, count + 1
    return count if total >= report["threshold"] else count + 1


def _open(facts: Facts, target: str, at_least: str | None, needs: str) -> None:
    """Check that a target was open at the end, and how many agents it needs."""
    ways = facts.ways(target)
    assert ways, f"{target} is over"
    counts = [fewest(report) for report in ways.values()]
    assert min(counts) == int(needs)
    if not at_least:
        assert max(counts) == min(counts)
    for event in facts.of("outcome"):
        for one in event["outcomes"]:
            if one["what"] == "delivery":  # CUBE
                assert target not in {f"block_{block}" for block in one["blocks"]}
            if one["what"] == "loaded":  # foraging
                assert target not in {one.get("food"), f"food_{one.get('row')}_{one.get('col')}"}


def _task(facts: Facts, found: re.Match[str]) -> None:
    target, at_least, needs, rest = found.groups()
    _open(facts, target, at_least, needs)
    if team := re.fullmatch(r", and the team has (\d+)", rest):
        assert int(team[1]) == len(facts.start["agents"]) < int(needs)
        reports = [one for one in facts.of("constraint") if one["task"]["target"].split("/")[0] == target]
        assert all(fewest(one) > int(team[1]) for one in reports if one["threshold"])
        return
    assert rest.startswith("; ")
    for clause in rest[2:].split("; "):
        done = [read(facts, target, match) for pattern, read in CLAUSES if (match := re.fullmatch(pattern, clause))]
        assert len(done) == 1, f"nobody checks: {clause}"


def _too_weak(facts: Facts, found: re.Match[str]) -> None:
    """Check that all weights together never reached the threshold of a task."""
    assert int(found[2]) == len(facts.start["agents"])
    reports = [one for one in facts.of("constraint") if one["task"]["target"].split("/")[0] == found[1]]
    assert reports
    assert all(sum(one["weights"]) < one["threshold"] for one in reports)


def _first_attempt(facts: Facts, target: str, found: re.Match[str]) -> None:
    first = min(t for t, _ in facts.tried(target))
    assert int(found[1]) == first > 0
    assert int(found[2]) == facts.steps - first


def _first_plan(facts: Facts, target: str, found: re.Match[str]) -> None:
    first = min(plan["t"] for plan in facts.planned(target))
    assert int(found[1]) == first > 0
    assert int(found[2]) == facts.steps - first


def _until_then(facts: Facts, target: str, found: re.Match[str]) -> None:
    tried = [t for t, _ in facts.tried(target)]
    _others(facts, found[1], min(tried or [plan["t"] for plan in facts.planned(target)]), target)


def number_of(words: str) -> int:
    """The number in `the only attempt`, `both attempts` or `all 7 attempts`."""
    return {"the only attempt": 1, "both attempts": 2}.get(words) or int(words.split()[1])


def _when(tried: Sequence[tuple[int, Json]], only: str | None, first: str | None, last: str | None) -> None:
    steps = [t for t, _ in tried]
    if only:
        assert {int(only)} == set(steps)
    if first:
        assert (int(first), int(last or -1)) == (min(steps), max(steps))


def _all_failed(facts: Facts, target: str, found: re.Match[str]) -> None:
    number, only, first, last, why = found.groups()
    tried = facts.tried(target)
    assert len(tried) == number_of(number)
    assert not any(one["succeeded"] for _, one in tried)
    _when(tried, only, first, last)
    _cause(facts, tried, why)


def _some_succeeded(facts: Facts, target: str, found: re.Match[str]) -> None:
    share, good, number, only, first, last = found.groups()
    tried = facts.tried(target)
    expected = (int(good), int(number)) if good else (number_of(share),) * 2
    assert expected == (sum(one["succeeded"] for _, one in tried), len(tried))
    _when(tried, only, first, last)


def _last_failed(facts: Facts, target: str, found: re.Match[str]) -> None:
    tried, number = facts.tried(target), 1 if found[1] == "one" else int(found[1])
    failures = tried[-number:]
    assert not any(one["succeeded"] for _, one in failures)
    assert tried[-number - 1][1]["succeeded"]
    _cause(facts, failures, found[2])


def _cause(facts: Facts, tried: Sequence[tuple[int, Json]], words: str | None) -> None:
    if words is None:
        return
    failed = [one for _, one in tried if not one["succeeded"]]
    if " tried only " in words:
        _apart(facts, failed, words)
        return
    share = re.fullmatch(
        r"(?:in (\d+) of them, )?(.*?)(?: \((.*)\))?"
        r"(?:(?:^|, and )it then needed (at least )?(\d+) agents?(?:, and the team has (\d+))?)?",
        words,
    )
    assert share is not None
    if share[3]:
        assert all(one["unmet"] for one in failed)
        ends = Counter(_only_end(facts, t, one["agents"]) for t, one in tried if not one["succeeded"])
        assert any(
            end.startswith(share[3].rstrip("\u2026")) for end, times in ends.items() if times == max(ends.values())
        )
    if share[5]:
        needs = [fewest(facts.at(one["task"]["target"], t)) for t, one in tried if not one["succeeded"]]
        assert min(needs) == int(share[5])
        assert bool(share[4]) == (max(needs) > min(needs))
        assert int(share[5]) > min(fewest(way) for way in facts.ways(one_target(tried)).values())
    if share[6]:
        assert int(share[6]) == len(facts.start["agents"]) < int(share[5])
        assert not share[2]
        return
    causes = Counter(one["missing"][0] for one in failed if one["missing"])
    weighted = any(way.get("weights") for way in facts.ways(one_target(tried)).values())
    assert ("too few or too weak" in share[2]) == (weighted and "too few" in share[2])
    cause = CAUSES[share[2].replace("too few or too weak", "too few")]
    assert causes[cause] == max(causes.values()) == (int(share[1]) if share[1] else len(failed))


def _only_end(facts: Facts, t: int, agents: Sequence[int]) -> str:
    """The reason of the only plan of agents that ended in a step, before the attempts of that step were reported."""
    (seq,) = [one["seq"] for one in facts.of("outcome") if one["t"] == t]
    ended = {"succeeded", "failed", "timed_out", "cancelled", "interrupted", "replaced"}
    (end,) = [
        one
        for one in facts.of("plan")
        if one["agent"] in agents and one["status"] in ended and one["seq"] < seq and one["t"] == t
    ]
    return str(end["reason"])


def one_target(tried: Sequence[tuple[int, Json]]) -> str:
    """The target of attempts, without the way."""
    (target,) = {str(one["task"]["target"]).split("/")[0] for _, one in tried}
    return target


def _apart(facts: Facts, failed: Sequence[Json], words: str) -> None:
    claimed = dict(re.findall(r"(\S+) tried only (\S+?)(?:,| and |$)", words))
    assert len(claimed) >= 2
    for name, way in claimed.items():
        assert {one["task"]["target"] for one in failed if facts.names.index(name) in one["agents"]} == {way}


def _plans(facts: Facts, target: str, found: re.Match[str]) -> None:
    assert not facts.tried(target)
    starts: dict[str, int] = {}
    for plan in facts.planned(target):
        starts.setdefault(facts.names[plan["agent"]], plan["t"])
    claimed: dict[str, int] = {}
    assert (" first planned it" in found[1]) == names_all(facts)
    who = found[1].replace(" first planned it in step ", " in step ").replace(" planned it in step ", " in step ")
    groups = [*re.findall(r"(.*?) in step (\d+)(?:, | and |$)", re.sub(r" and \d+ others$", "", who))]
    others = 0
    for names, step in groups:
        shown, more = split(names)
        others += more
        claimed |= {name: int(step) for name in shown}
    assert claimed.items() <= starts.items()
    if not (others or re.search(r" and \d+ others", found[1])):
        assert claimed == starts
    assert min(claimed.values()) == min(starts.values())


def _gave_way(facts: Facts, target: str, found: re.Match[str]) -> None:
    last = facts.planned(target)[-1]["plan"]
    ends = [
        one["t"] for one in facts.of("plan") if one["plan"] == last and one["status"] in ("interrupted", "replaced")
    ]
    assert ends == [int(found[1])]


def _no_attempt(facts: Facts, target: str, _: re.Match[str]) -> None:
    assert not facts.tried(target)


def _running(facts: Facts, target: str, found: re.Match[str]) -> None:
    name, action, since = found.groups()
    mine = {plan["plan"] for plan in facts.planned(target) if facts.names[plan["agent"]] == name}
    changes = [one for one in facts.of("action") if one["plan"] in mine and one["action"] == action]
    started = [one for one in changes if one["status"] == "started" and one["t"] == int(since)]
    assert started
    ends = [one for one in changes if one["seq"] > started[-1]["seq"] and one["plan"] == started[-1]["plan"]]
    assert {one["t"] for one in ends} <= {facts.steps}
    assert int(since) < facts.steps


def _plan_failure(facts: Facts, target: str, found: re.Match[str]) -> None:
    mine = {plan["plan"] for plan in facts.planned(target)}
    failed = [one for one in facts.of("plan") if one["plan"] in mine and one["status"] in ("failed", "timed_out")]
    assert failed[-1]["t"] == int(found[1])
    assert failed[-1]["reason"].startswith(found[2].rstrip("\u2026"))


def _carried_out(facts: Facts, target: str, found: re.Match[str]) -> None:
    later, number, action = found.groups()
    seqs = [
        event["seq"]
        for event in facts.of("outcome")
        for one in event["attempts"]
        if one["task"]["target"].split("/")[0] == target
    ]
    assert bool(later) == bool(seqs)
    plans = [plan for plan in facts.planned(target) if plan["seq"] > max(seqs, default=-1)]
    assert len(plans) == {"the only plan": 1, "both plans": 2}.get(number) or len(plans) == int(number.split()[1])
    assert {one["action"] for plan in plans for one in plan["actions"]} == {action}
    ends = [one["status"] for one in facts.of("plan") if one["plan"] in {plan["plan"] for plan in plans}]
    assert ends.count("succeeded") == len(plans)


def _failed_plans(facts: Facts, found: re.Match[str]) -> None:
    failed, number, times, reason = found.groups()
    ends = [one["reason"] for one in facts.of("plan") if one["status"] in ("failed", "timed_out")]
    assert (int(failed), int(number)) == (len(ends), len(facts.plans))
    assert 2 * len(ends) >= len(facts.plans)
    assert sum(end.partition("\n")[0].rstrip(".").startswith(reason.rstrip("\u2026")) for end in ends) == int(times)
    counts = Counter(ends)
    assert int(times) >= max(counts.values())


def _dependency(facts: Facts, target: str, _: re.Match[str]) -> None:
    assert not any(report["dependency"] for report in facts.ways(target).values())


def _wait(facts: Facts, target: str, found: re.Match[str]) -> None:
    who, each, where, since, _ = found.groups()
    agents = [facts.names.index(name) for name in split(who)[0]]
    ways, first = split(where)[0], int(since)
    assert first <= facts.steps - 2
    committed = 0.0
    for t in range(first, facts.steps):
        committed = 0.0
        for way in facts.ways(target):
            report = facts.at(way, t)
            assert report["temporal"] == 0
            if way in ways:
                assert 0 < report["participation"] < report["threshold"]
                assert report["spatial"] >= report["participation"]
                committed += report["participation"]
    joints = [step["joint"] for step in facts.of("step") if step["t"] >= first]
    assert len({joint[agent] for joint in joints for agent in agents}) == 1
    meanwhile = [one for t, one in facts.tried(target) if t >= first]  # others' waits that ended count as attempts
    assert all(one["unmet"] and not {*one["agents"]} & {*agents} for one in meanwhile)
    for agent in agents:
        (plan,) = [one for one in facts.planned(target) if one["agent"] == agent][-1:]
        assert plan["t"] <= first
        changes = [one for one in facts.of("action") if one["plan"] == plan["plan"]]
        assert [one["t"] for one in changes if one["status"] == "started"][-1] <= first
        assert changes[-1]["status"] == "cancelled"
    if each:
        assert len(agents) > 1
        assert len(ways) > 1
        assert committed >= min(facts.at(way, facts.steps)["threshold"] for way in ways)


_ATTEMPTS = r"(the only attempt|both attempts|all \d+ attempts)"
_WHEN = r"(?: in step (\d+)| from step (\d+) to step (\d+))?"
CLAUSES: list[tuple[str, Callable[[Facts, str, re.Match[str]], None]]] = [
    (r"there was no attempt before step (\d+), (\d+) steps? before the end", _first_attempt),
    (r"no plan named it before step (\d+), (\d+) steps? before the end", _first_plan),
    (r"until then, (.*)", _until_then),
    (rf"{_ATTEMPTS} at it{_WHEN} failed(?:: (.*))?", _all_failed),
    (rf"({_ATTEMPTS[1:-1]}|(\d+) of (\d+) attempts) at it{_WHEN} succeeded, which did not finish it", _some_succeeded),
    (r"the last (one|\d+) failed(?:: (.*))?", _last_failed),
    (
        r"(after that, )?(the only plan|both plans|all \d+ plans) for it succeeded, with no action but (\S+)",
        _carried_out,
    ),
    (r"(.* planned it in step .*), but there was no attempt at it", _plans),
    (r"there was no attempt at it", _no_attempt),
    (r"the last plan for it gave way to another in step (\d+)", _gave_way),
    (r"(\S+) was in (\S+) from step (\d+) to the end", _running),
    (r"the last failure of a plan for it was in step (\d+) \((.*)\)", _plan_failure),
    (r"in the last step, its prerequisites were not met", _dependency),
    (r"(.*) waited (for each other )?at (.*) from step (\d+) on(, and too few others joined)?", _wait),
]
SENTENCES: list[tuple[str, Callable[[Facts, re.Match[str]], None]]] = [
    (
        rf"({'|'.join(OUTCOMES)}) after (\d+) steps?(?: \((.*)\))?"
        r"(?:, with (\d+) of (\d+) goals? reached(?:, the last in step (\d+))?(?:, after (\d+) in step (\d+))?)?\.",
        _ending,
    ),
    (r"(Nobody acted: )?(\d+) of (\d+) answers? (?:was|were) refused, (\d+) times? because (.*)\.", _refused),
    (r"(\d+) of (\d+) plans? failed, (\d+) of them with (.*)\.", _failed_plans),
    (r"Nobody tried a task: every plan was only (.*)\.", _idle),
    (r"Nobody (planned or tried|tried) (.*?\)(?: and \d+ others)?)(?:; (.*))?\.", _untouched),
    (r"(\S+) needs more than all agents together, and the team has (\d+)\.", _too_weak),
    (r"(\S+) needs (at least )?(\d+) agents?([;,] .*)\.", _task),
]
