"""The trace in the browser: episodes and sweeps as pages, served on this machine or written as one file."""
