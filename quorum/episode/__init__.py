"""Episodes: builds the components of a cell, runs it, and writes its folder."""
