"""The interaction graph of an episode, and the cooperation failures in it (DIG to Heal, arXiv 2603.00309).

| module | contents |
|---|---|
| `graph` | messages and thoughts, their inputs and outputs, the recipients' reactions, and the subjects of messages |
| `build` | builds the graph event by event |
| `patterns` | finds failures event by event, with the same rules for a trace and for healers in the loop |
"""
