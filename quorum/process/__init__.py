"""The process: signals, event loop, garbage collection."""
