"""How minds ask language models: templates, data in blocks, the vocabulary in words, typed answers, call records."""
