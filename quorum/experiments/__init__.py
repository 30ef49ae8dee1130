"""From a configuration to results: schema, cells, episodes."""
