"""Minds: the components that decide for the agents."""
