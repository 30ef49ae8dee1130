"""Branches of recorded runs: what if another mind, or another model, had taken over from an instant on?"""
