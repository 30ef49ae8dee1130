"""What LLaMAC is measured against: CMAS, HMAS-1, HMAS-2, DMAS and multi-agent debate (`teams.py`).

They share one way of asking for a joint plan (`asking.py`), one coordinator (`coordinator.py`), which differs in where
its joint plans come from, and one agent that talks (`talker.py`).
"""
