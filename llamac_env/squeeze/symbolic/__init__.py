"""The symbolic action of the squeeze, and its picture."""
