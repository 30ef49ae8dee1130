"""The base package: code that the loop, the worlds and Quorum share. It imports no other package of the project."""
