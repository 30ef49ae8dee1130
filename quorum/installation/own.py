"""The packages of this project, by the names under which they are imported."""

PACKAGES = frozenset(
    {
        "quorum",
        "quorum_base",
        "maeil",
        "cube_env",
        "crafter_env",
        "lbf_env",
        "llamac_env",
        "overcooked_env",
        "pettingzoo_env",
    }
)
