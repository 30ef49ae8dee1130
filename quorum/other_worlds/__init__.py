"""What minds know of the worlds of others: level-based foraging, Overcooked, PettingZoo."""
