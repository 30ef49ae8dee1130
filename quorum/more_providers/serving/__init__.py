"""The simulated model over HTTP, in the formats of OpenAI and Anthropic. No run imports this."""
