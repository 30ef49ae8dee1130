"""Healers: what they say to agents when cooperation fails (DIG to Heal, arXiv 2603.00309).

| module | what it holds |
|---|---|
| `interventions` | for each pattern whom a healer addresses, and what it says |
| `healing` | watches an episode, and has the chosen healers speak |
| `configuration` | the schema of `extension.heal` |
| `heeding` | `llm=heeding`: the simulated model, which follows what healers say |
"""

from healers import events  # noqa: F401 (they are known when a trace is read)
from healers.configuration import HealConfig, build
from healers.heeding import HeedingConfig, heeding_model
from maeil import Component
from quorum.configuration.registry import extensions, providers

extensions.register("heal", Component(HealConfig, build))
providers.register("heeding", Component(HeedingConfig, heeding_model))
