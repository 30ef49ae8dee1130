"""The language models that a configuration can choose: their values and build functions."""
