"""Engines that run the cells of a sweep: their protocol, and the local engine with worker processes."""
