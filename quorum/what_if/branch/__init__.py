"""Branches of recorded runs: what if it had been another mind, or another model, from an instant on."""
