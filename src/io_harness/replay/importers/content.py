"""Message content in its many spellings: a string, blocks of text, images, nested results."""

from __future__ import annotations

from io_harness.replay.importers.build import as_dict, as_list, as_text
from io_harness.types import JSON


def result_text(content: JSON) -> tuple[str, int]:
    """The text of a result, and how many images stood in it, which have no text here."""
    if isinstance(content, str):
        return content, 0
    texts: list[str] = []
    images = 0
    for block in as_list(content):
        if isinstance(block, str):
            texts.append(block)
            continue
        kind = as_text(as_dict(block).get("type"))
        if kind in {"image", "input_image", "image_url", "document"}:
            images += 1
            continue
        texts.append(_block_text(as_dict(block)))
    return "\n".join(t for t in texts if t), images


def _block_text(block: dict[str, JSON] | object) -> str:
    fields = as_dict(block) if isinstance(block, dict) else {}
    for name in ("text", "result", "content", "output", "error"):
        value = fields.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return result_text(value)[0]
    return ""
