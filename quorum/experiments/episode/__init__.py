"""Episode."""
