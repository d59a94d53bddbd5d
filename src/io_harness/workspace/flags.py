"""How things are opened. A system without a flag has none of its meaning, and no workspace."""

from __future__ import annotations

import os

DIRECTORY = getattr(os, "O_DIRECTORY", 0)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
# Where there is no O_PATH, a name is looked at by opening it for reading.
PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY | NO_WAIT)
