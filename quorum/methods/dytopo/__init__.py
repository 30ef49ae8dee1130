"""Offers and needs: agents describe themselves, and the matches decide who writes to whom (DyTopo, arXiv 2602.06039).

Topologies that link agents this way require this extension (`requires` of their component); users do not select it.

| module | contents |
|---|---|
| `descriptors` | agents' offers and needs, and the match scores |
| `describe` | the extension and its template: keeps a conversation's descriptors, lets the topology choose the edges |
| `matchers` | comparison of needs with offers |
"""
