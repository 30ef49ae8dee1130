"""Sweeps: many cells planned, run where they are missing, and resumed after anything."""
