"""Repair: the gate between the commitment of plans and their execution (COOP2-Repair, arXiv 2603.00349 v2).

| module | what it holds |
|---|---|
| `gate` | judges committed plans, and repairs those that are expected to fail |
| `rollout` | the predictor that carries the plans out on a copy of the world |
| `outcome` | what a group of plans has violated: the same rule for what is expected and for what has happened |
| `channel` | the turns of a repair, as a topology of its own |
"""
