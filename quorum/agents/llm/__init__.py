"""Language models: one protocol, providers that speak it, and wrappers that compose around a provider."""
