"""The benchmark of CUBE from a checkout; the same as `quorum bench cube`.

python benchmarks/cube.py [--quick] [--json] [--out DIR]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from quorum.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["bench", "cube"]
    main()
