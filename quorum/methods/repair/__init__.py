"""Repair: the gate between the commitment of plans and their execution (COOP2-Repair, arXiv 2603.00349 v2).

| module | what it holds |
|---|---|
| `gate` | the values of `extension.repair`; judges committed plans, and repairs those that are expected to fail |
| `rules` | what it needs to know about one world, what it shows, and what plans have violated |
| `rollout` | the predictor that carries the plans out on a copy of the world |
"""
