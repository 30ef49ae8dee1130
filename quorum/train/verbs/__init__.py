"""The options and verbs of training."""
