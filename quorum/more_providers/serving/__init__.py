"""The simulated model over HTTP, in the formats of OpenAI and Anthropic. Runs do not import this package."""
