"""Makes the golden file of the newest schema: `python -m tests.store.golden.make`.

Once a version is released its file is never made again: later versions must open it.
"""

from __future__ import annotations

import asyncio
import gzip
import tempfile
from pathlib import Path

from io_harness.store import Store
from io_harness.store.schema import VERSION
from tests.store.runs import begin, take_step

PLACE = Path(__file__).parent


async def fill(store: Store) -> None:
    lease = await begin(store.journal, "golden")
    for step in (1, 2):
        await take_step(store.journal, lease, step, f"{step}: golden \ud800\0\n" + "x" * 5_000)
    await store.journal.finished(lease, outcome="success", reason="done")
    store.memory_put("id:golden", "key", "value", run_id="golden", step=2)


if __name__ == "__main__":
    with Store.memory() as made:
        asyncio.run(fill(made))
        with tempfile.TemporaryDirectory() as place:
            made.backup(Path(place, "made.db"))
            content = gzip.compress(Path(place, "made.db").read_bytes(), mtime=0)
        (PLACE / f"schema-{VERSION}.db.gz").write_bytes(content)
