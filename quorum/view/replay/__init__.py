"""`quorum replay`: an episode as a film or in the terminal, alone or next to another one of the same board."""
