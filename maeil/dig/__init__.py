"""The interaction graph of an episode, and the failures of cooperation that show in it (DIG to Heal, arXiv 2603.00309).

| module | what it holds |
|---|---|
| `graph` | messages and thoughts, what each took in and gave out, how each recipient reacted, and what they are about |
| `build` | makes the graph, event by event |
| `patterns` | finds the failures in it, event by event, with the same rules for a trace and for healers in the loop |
"""
