"""What `quorum new` writes: a small installable package with a component, complete and with its test."""
