"""Message content in its many spellings: a string, blocks of text, images, nested results."""

from __future__ import annotations

from collections.abc import Mapping

from io_harness.replay.importers.values import arguments_text, as_text
from io_harness.types import JSON

_NO_TEXT = frozenset(
    {"image", "input_image", "image_url", "document", "audio", "input_audio", "resource_link"}
)
_FIELDS = ("text", "result", "content", "output", "error")


def blocks(content: JSON) -> list[Mapping[str, JSON]]:
    """The content as blocks: a text, alone or in a list, is one of type text."""
    items = content if isinstance(content, list) else [content]
    return [_block(item) for item in items if item is not None]


def _block(item: JSON) -> Mapping[str, JSON]:
    if not isinstance(item, dict):
        return {"type": "text", "text": arguments_text(item)}
    plain = "type" not in item and isinstance(item.get("text"), str)
    return {"type": "text", **item} if plain else item


def without_text(block: Mapping[str, JSON]) -> bool:
    """Whether a block is an image or the like, of which a recording gives no text."""
    return as_text(block.get("type")) in _NO_TEXT or "blob" in block


def result_text(content: JSON) -> tuple[str, int]:
    """The text of a result, and how many images stood in it, which have no text here.

    What has no text of its own stands as its JSON, so that nothing is lost.
    """
    texts: list[str] = []
    images = 0
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value))
        elif not isinstance(value, dict):
            texts.append(arguments_text(value))
        elif without_text(value):
            images += 1
        else:
            parts = _parts(value)
            texts.extend([arguments_text(value)] if not parts else [])
            waiting.extend(reversed(parts))
    return "\n".join(t for t in texts if t), images


def _parts(block: Mapping[str, JSON]) -> list[JSON]:
    parts = [block[name] for name in _FIELDS if isinstance(block.get(name), str | list)]
    return [block["resource"]] if not parts and isinstance(block.get("resource"), dict) else parts
