"""The planner for CUBE."""
