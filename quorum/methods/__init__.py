"""Methods of the literature, a folder for each."""
