"""Configurations: composed by Hydra, validated by a schema, and hashed as a cell; and the registries of components."""
