"""Teams in which the effect of talk is known by construction, and what studies find about them.

| module | content |
|---|---|
| `planted` | the mind `planted`: its skill depends on one cause, such as what it has read |
| `teams` | the planted teams, what is known of them, and their boards, played with the arms of `quorum study talk` |
| `studies` | size and power of every effect of `quorum study talk` on these boards |
"""
