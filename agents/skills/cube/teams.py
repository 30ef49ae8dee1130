"""The convention by which agents that know each other's wishes come to the same teams without another word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that takes several agents.

    Attributes:
        id: what it is called.
        quorum: how many agents it takes.
        urgency: jobs with a smaller one come first.
        ways: how far each agent, by index, is from it.
    """

    id: int
    quorum: int
    urgency: int
    ways: Sequence[int]


def form_teams(wishes: Mapping[int, int], jobs: Sequence[Demand]) -> dict[int, int]:
    """Form teams from wishes.

    Complete teams stand: of those who wish for a job its nearest, up to the quorum. Everybody else is a pool: the job
    that lacks fewest of them is filled first, with those who wish for it and then with the nearest; so at most one
    team stays short. Who is left over goes to the nearest job.

    Args:
        wishes: the job that each agent wishes for; agents that are not in it take no part.
        jobs: the jobs.

    Returns:
        The job of each agent of `wishes`; empty when there are no jobs. Equal arguments give equal teams, so all who
        know the same wishes agree.
    """
    if not jobs:
        return {}
    teams: dict[int, int] = {}
    open_jobs = []
    for job in sorted(jobs, key=lambda job: (job.urgency, job.id)):
        wishing = sorted((agent for agent in wishes if wishes[agent] == job.id), key=lambda a: (job.ways[a], a))
        if len(wishing) >= job.quorum:
            teams.update(dict.fromkeys(wishing[: job.quorum], job.id))
        else:
            open_jobs.append((job.quorum - len(wishing), job))
    pool = [agent for agent in sorted(wishes) if agent not in teams]
    for _, job in sorted(open_jobs, key=lambda entry: (entry[0], entry[1].urgency, entry[1].id)):
        pool.sort(key=lambda agent: (wishes[agent] != job.id, job.ways[agent], agent))
        teams.update(dict.fromkeys(pool[: job.quorum], job.id))
        pool = pool[job.quorum :]
    for agent in pool:
        teams[agent] = min(jobs, key=lambda job: (job.ways[agent], job.id)).id
    return teams
