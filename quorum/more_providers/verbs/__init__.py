"""The verbs of this satellite."""
