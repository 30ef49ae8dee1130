"""The tree of leaders: reports go up, directives come down, and talk stays as low in the tree as it can."""

from collections import Counter, defaultdict

from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Thought
from quorum.topologies.hierarchy import Hierarchy, HierarchyConfig
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, lines, play
from tests.topologies.test_timelines import go, nothing, reported, resume, say

KINDS = ("message_sent", "messages_read", "step")
DIRECTIVE = MessageKind.DIRECTIVE


def hierarchy(branching=2):
    return Hierarchy(HierarchyConfig(name="hierarchy", branching=branching))


class Talkative:
    """Says something whenever it may, and walks to the end of a corridor of one cell."""

    def __init__(self):
        self.views = []

    async def think(self, view):
        self.views.append(view)
        if Act.PLAN in view.turn.acts:
            return go(1, 1)
        return Thought(
            messages=(Draft(view.turn.recipients, view.turn.role, MessageKind.INFORM),), calls=go(1, 1).calls
        )


def test_reports_go_up_and_directives_come_down_before_anybody_plans():
    #      0
    #    1   2
    #   3 4
    minds = [
        Scripted(say(1, "root to all", 1, 2, kind=DIRECTIVE), go(1, 1)),
        Scripted(say(1, "1 and 3 and 4", 0), say(1, "passed on", 3, 4, kind=DIRECTIVE), go(1, 1)),
        Scripted(say(1, "2", 0), go(1, 1)),
        Scripted(say(1, "3", 1), go(1, 1)),
        Scripted(say(1, "4", 1), go(1, 1)),
    ]
    events = play(minds, Corridor(5, length=1), topology=hierarchy())
    assert lines(events, *KINDS) == reported("""
        t=0 t^=1: agent 2 says '2' to [0]
        t=0 t^=1: agent 3 says '3' to [1]
        t=0 t^=1: agent 4 says '4' to [1]
        t=0 t^=1: agent 1 reads 1, 2
        t=0 t^=2: agent 1 says '1 and 3 and 4' to [0]
        t=0 t^=2: agent 0 reads 0, 3
        t=0 t^=3: agent 0 says 'root to all' to [1, 2]
        t=0 t^=3: agent 1 reads 4
        t=0 t^=4: agent 1 says 'passed on' to [3, 4]
        t=0 t^=4: agent 2 reads 4
        t=0 t^=4: agent 3 reads 5
        t=0 t^=4: agent 4 reads 5
        t=0 t^=5: step [1, 1, 1, 1, 1]
    """)
    assert [[view.turn.role for view in mind.views] for mind in minds] == [
        ["root", "root"],
        ["member", "branch_leader", "member"],
        ["member", "member"],
        ["member", "member"],
        ["member", "member"],
    ]


def test_who_needs_a_plan_in_mid_episode_wakes_its_own_leader_and_nobody_above_or_beside():
    minds = [
        Scripted(nothing(1), go(1, 3)),
        Scripted(nothing(1), nothing(1), go(1, 3), say(1, "do this", 3, kind=DIRECTIVE), resume(1)),
        Scripted(nothing(1), go(1, 3)),
        Scripted(nothing(1), go(1, 1, fails_at=1), say(1, "help", 1), go(1, 2)),
        Scripted(nothing(1), go(1, 3)),
    ]
    events = play(minds, Corridor(5, length=3), topology=hierarchy())
    assert lines(events, "message_sent", "messages_read") == reported("""
        t=1 t^=6: agent 3 says 'help' to [1]
        t=1 t^=6: agent 1 reads 0
        t=1 t^=7: agent 1 says 'do this' to [3]
        t=1 t^=7: agent 3 reads 1
    """)
    assert minds[1].views[3].turn.role == "branch_leader"
    assert [len(mind.views) for mind in minds] == [2, 5, 2, 4, 2]


def test_turns_and_messages_grow_with_the_team_and_rounds_with_its_logarithm():
    n, k = 85, 4  # a whole tree of depth 3
    minds = [Talkative() for _ in range(n)]
    events = play(minds, Corridor(n, length=1), topology=hierarchy(k))
    sent, read = Counter(), defaultdict(list)
    for stamped in events:
        if stamped.event.kind == "message_sent":
            sent[stamped.event.sender] += 1
        if stamped.event.kind == "messages_read":
            read[stamped.event.agent] += stamped.event.messages
    leaders = (n - 1) // k
    assert sent.total() == (n - 1) + leaders
    assert max(sent.values()) == 2
    assert max(map(len, read.values())) == k + 1
    step = next(stamped for stamped in events if stamped.event.kind == "step")
    assert step.t_hat == 2 * 3 + 1  # three rounds up, three down, one to plan; each thought costs 1


def test_each_role_is_told_its_part():
    told_roles = {role: hierarchy().describe(role) for role in ("root", "branch_leader", "member")}
    assert "pass on" in told_roles["branch_leader"]
    assert "Report to your leader" in told_roles["member"]
    assert len(set(told_roles.values())) == 3
