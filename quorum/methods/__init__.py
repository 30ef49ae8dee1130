"""Methods from the literature, one folder each."""
