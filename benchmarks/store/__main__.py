"""Measures the store; writes `results.json` beside this file and the tables of docs/store.md.

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
PAGE = Path(__file__).parents[2] / "docs" / "store.md"
BEGIN, END = "<!-- size: written by python -m benchmarks.store -->", "<!-- /size -->"
RESULT_CHARS = (500, 1_000, 2_000, 4_000, 8_000)


def main() -> None:
    """Take about six minutes."""
    runs = [growth.measure(1_000, chars) for chars in RESULT_CHARS]
    figures = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
        "sqlite": apsw.sqlite_lib_version(),
        "fleet": asdict(fleet.measure(32, 16, 30.0)),
        "one_process": single.measure(9),
        "growth": runs,
        "large": large.measure(large.GIGABYTE),
    }
    RESULTS.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    table = "\n".join(size_table(runs))
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def size_table(runs: list[dict[str, float]]) -> list[str]:
    """What runs take on the disk, as the rows of a Markdown table."""
    return [
        "| characters of a result | new text | all prompts | file | over the new text |",
        "|---:|---:|---:|---:|---:|",
        *(
            f"| {run['result_chars']:,} | {run['new_chars']:,} | {run['prompt_chars']:,} "
            f"| {run['file_bytes']:,} | {run['ratio']:.2f} |"
            for run in runs
        ),
    ]


if __name__ == "__main__":
    main()
