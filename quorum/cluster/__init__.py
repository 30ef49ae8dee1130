"""Engines for clusters: Slurm and Ray."""
