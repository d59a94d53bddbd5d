"""The workspace: one pinned root, and every act on paths beneath it."""


class Workspace:
    """To come."""
