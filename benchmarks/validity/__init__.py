"""Teams in which the truth is known by construction, and what the instrument finds about them.

| module | content |
|---|---|
| `planted` | the mind `planted`: its skill depends on one cause, such as what it has read |
| `teams` | the planted teams, what is known of them, and their boards, played with the arms of `quorum study talk` |
| `studies` | studies of these boards, and what they find of each effect |
| `independent` | their p-values by code without the product's statistics |
| `__main__` | size and power of every effect, as a table and a page |
| `credit` | whether credits rank a useless or decisive agent |
"""
