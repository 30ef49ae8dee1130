"""Communication topologies: who may write to whom, and in which order."""
