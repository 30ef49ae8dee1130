"""The base package: what the loop, the worlds and Quorum share. It imports nothing of the project."""
