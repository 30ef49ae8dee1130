"""Healers: their remarks to agents when cooperation fails (DIG to Heal, arXiv 2603.00309).

| module | contents |
|---|---|
| `interventions` | for each pattern, the agents that a healer addresses and its text |
| `healing` | watches an episode and lets the chosen healers speak |
| `configuration` | the schema of `extension.heal` |
| `heeding` | `llm=heeding`: the simulated model, which follows healers' remarks |
"""

from healers import events  # noqa: F401 (they are known when a trace is read)
from healers.configuration import HealConfig, build
from healers.heeding import HeedingConfig, heeding_model
from maeil import Component
from quorum.configuration.registry import extensions, providers

extensions.register("heal", Component(HealConfig, build))
providers.register("heeding", Component(HeedingConfig, heeding_model))
