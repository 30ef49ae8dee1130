"""Configurations, composed by Hydra, validated by a schema and hashed as cells; and the component registries."""
