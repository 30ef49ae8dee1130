"""Labels of teams with several minds: `naive+heuristic@0,2+negotiator@leader`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LEADER = "leader"
"""The key of the mind of the topology's leader."""
_MEMBER = re.compile(r"agents\.(?:members\.([^.]+)|leader)\.name")
_OTHER_MINDS = ("agents.members.", "agents.leader.")
_NUMBERED = re.compile(r"agent_([0-9]{1,9})")


def team_label(agents: Mapping[str, Any]) -> str:
    """Return the label of a team from the values of the group `agents`.

    The common mind comes first, then each other mind with its participants: numbers of agents, names of other
    participants, `leader` for the topology's leader.
    """
    members = {name: str(values["name"]) for name, values in (agents.get("members") or {}).items()}
    leader = agents.get(LEADER)
    return _label(str(agents["name"]), members, str(leader["name"]) if leader else None)


def label_of_factors(factors: Mapping[str, Any]) -> str | None:
    """Return the label of a team from its flat configuration; None if all have the same mind."""
    names = (key for key in factors if key.startswith(_OTHER_MINDS))
    found = {match[1] or LEADER: str(factors[match[0]]) for match in map(_MEMBER.fullmatch, names) if match}
    if not found:
        return None
    leader = found.pop(LEADER, None)
    return _label(str(factors.get("agents.name")), found, leader)


def minds_in(agents: Mapping[str, Any]) -> list[str]:
    """Return the distinct names of a team's minds, from the values of the group `agents`."""
    return list(dict.fromkeys(str(values["name"]) for values in _minds(agents)))


def converses(agents: Mapping[str, Any]) -> bool:
    """Whether a mind of the team has conversations with its models, from the values of the group `agents`."""
    return any(values.get("memory") == "conversation" for values in _minds(agents))


def _minds(agents: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return (agents, *(agents.get("members") or {}).values(), agents.get(LEADER) or agents)


def natural(names: Iterable[str]) -> list[str]:
    """Sort names of participants: agents by number, then others."""
    return sorted(names, key=lambda name: (int(match[1]) if (match := _NUMBERED.fullmatch(name)) else 10**9, name))


def _label(base: str, members: Mapping[str, str], leader: str | None) -> str:
    who: dict[str, list[str]] = {}
    for name in natural(members):
        match = _NUMBERED.fullmatch(name)
        who.setdefault(members[name], []).append(match[1] if match else name)
    places = {mind: _runs(names) for mind, names in who.items()}
    if leader is not None:
        places.setdefault(leader, []).append(LEADER)
    return "+".join([base, *(f"{mind}@{','.join(names)}" for mind, names in places.items())])


def _runs(names: Sequence[str]) -> list[str]:
    """Abbreviate three or more consecutive numbers: `0-3`."""
    found: list[list[str]] = []
    for name in names:
        follows = found and name.isdecimal() and found[-1][-1].isdecimal() and int(name) == int(found[-1][-1]) + 1
        if follows:
            found[-1].append(name)
        else:
            found.append([name])
    return [part for run in found for part in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else run)]
