"""Episodes: builds the parts of a cell, runs it, and writes its folder."""
