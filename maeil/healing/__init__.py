"""Healers: what is told to agents when cooperation fails (DIG to Heal, arXiv 2603.00309).

| module | what it holds |
|---|---|
| `healers` | for each pattern whom a healer addresses, and what it says |
| `watch` | sees an episode as it goes on, and has the chosen healers answer what is found |
| `voice` | tells the team what they say |
"""
