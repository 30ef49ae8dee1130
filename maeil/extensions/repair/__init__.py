"""Repair: the gate between the commitment of plans and their execution (COOP2-Repair, arXiv 2603.00349 v2).

| module | what it holds |
|---|---|
| `gate` | judges committed plans, and repairs those that are expected to fail |
| `rules` | what it needs to know about one world, and what it shows |
| `rollout` | the predictor that carries the plans out on a copy of the world |
| `outcome` | what a group of plans has violated: the same rule for what is expected and for what has happened |
| `configuration` | the schema of `extension.repair` |
"""
