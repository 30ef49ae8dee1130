"""Files: written whole or not at all, and read as data that nobody trusts."""
