"""Offers and needs: agents describe themselves, and it follows who writes to whom (DyTopo, arXiv 2602.06039).

Topologies that join agents so require this extension (`requires` of their component); it is not chosen by itself.

| module | what it holds |
|---|---|
| `descriptors` | what agents offer and need, and how well offers answer needs |
| `describe` | the extension with its template: keeps descriptors of a conversation, has the topology choose the edges |
| `matchers` | how needs are compared with offers |
"""
