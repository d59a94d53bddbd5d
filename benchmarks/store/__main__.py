"""Measures the store and writes `results.json` beside this file.

python -m benchmarks.store
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

import apsw

from benchmarks.store import fleet, growth, large, single

RESULTS = Path(__file__).with_name("results.json")


def main() -> None:
    """Take about six minutes."""
    figures = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "fleet": asdict(fleet.measure(32, 16, 30.0)),
        "one_process": single.measure(9),
        "growth": [growth.measure(1_000, chars) for chars in (2_000, 4_000, 8_000)],
        "large": large.measure(large.GIGABYTE),
    }
    RESULTS.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
