"""What runs the cells of a sweep: the contract of engines, and the engine of worker processes on this machine."""
