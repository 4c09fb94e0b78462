"""`bench` is of the repository, not of the package: it is importable from the root only."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
