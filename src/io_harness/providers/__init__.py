"""Models that answer requests: what a provider is, and those that need no vendor's SDK."""

from io_harness.providers.base import KnowsWindow, Provider
from io_harness.providers.named import provider_from
from io_harness.providers.recorded import RecordedProvider
from io_harness.providers.scripted import Script, ScriptedProvider, Turn

__all__ = [
    "KnowsWindow",
    "Provider",
    "RecordedProvider",
    "Script",
    "ScriptedProvider",
    "Turn",
    "provider_from",
]
