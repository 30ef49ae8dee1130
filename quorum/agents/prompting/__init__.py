"""Shared code of prompts: templates, data blocks, the vocabulary in words, typed answers, call records."""
