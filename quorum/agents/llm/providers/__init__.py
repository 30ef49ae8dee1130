"""Providers of language models, one file each. A provider's SDK is imported when the provider is built."""
