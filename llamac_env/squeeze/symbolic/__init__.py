"""The squeeze as the loop draws it."""
