"""Views of a run: the browser, films, exports for other tools, experiment trackers."""
