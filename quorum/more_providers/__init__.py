"""More providers of language models: Gemini, OpenAI's Responses, LiteLLM; and batches of requests."""
