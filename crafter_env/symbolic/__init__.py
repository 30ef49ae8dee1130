"""Symbolic actions of the open world: the vocabulary, map memory, and the controllers that give primitives."""
