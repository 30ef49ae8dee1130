"""What LLaMAC is measured against: CMAS, HMAS-1, HMAS-2, DMAS and multi-agent debate, each a file named after it.

They share one way of asking for a joint plan (`asking.py`), one coordinator (`centre.py`), which differs in where its
joint plans come from, and one agent that talks (`talker.py`).
"""
