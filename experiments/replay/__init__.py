"""`quorum replay`: an episode as a film, or in the terminal, alone or beside another one of the same board."""
