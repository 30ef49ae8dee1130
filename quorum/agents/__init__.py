"""Minds: what decides for the agents."""
