"""Repair: a gate that checks committed plans before they run (COOP2-Repair, arXiv 2603.00349 v2).

| module | contents |
|---|---|
| `gate` | the settings of `extension.repair`; judges committed plans and repairs those expected to fail |
| `rules` | the world-specific rules it needs, the texts it shows, and recorded violations |
| `rollout` | the predictor that runs plans on a copy of the world |
"""
