"""Pictures of the squeeze for the main loop."""
