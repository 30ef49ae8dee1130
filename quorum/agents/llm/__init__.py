"""Language models: one protocol, providers that implement it, and wrappers around a provider."""
