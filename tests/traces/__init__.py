"""Sixty-five cells over all worlds, minds and topologies, with the digests that their traces had."""
