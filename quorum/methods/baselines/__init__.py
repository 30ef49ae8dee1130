"""Baselines for LLaMAC: CMAS, HMAS-1, HMAS-2, DMAS and multi-agent debate (`teams.py`).

They share the requests for joint plans (`asking.py`), and one coordinator and one talking agent (`minds.py`). The
coordinators differ only in the source of their joint plans.
"""
