"""Fits a communication graph to a configuration: plays rounds of episodes under graphs that are drawn, and prunes."""
