"""Failed episodes of which the decisive decision is known, to measure what `quorum blame` and others find."""
