"""Healers: what they say to agents when cooperation fails (DIG to Heal, arXiv 2603.00309).

| module | what it holds |
|---|---|
| `healers` | for each pattern whom a healer addresses, and what it says |
| `healing` | watches an episode, and has the chosen healers speak |
| `configuration` | the schema of `extension.heal` |
"""
