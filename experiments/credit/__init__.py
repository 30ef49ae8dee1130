"""Credit: what agents and messages were worth, found by playing on without them."""
