"""More providers of language models: Gemini, OpenAI's Responses API, LiteLLM; and batches of requests."""
