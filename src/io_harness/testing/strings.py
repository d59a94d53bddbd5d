"""Texts that stores have lost, cut or refused, and how to make more of them."""

from __future__ import annotations

from hypothesis import strategies as st

NASTY: tuple[str, ...] = (
    "",
    "\0",
    "a\0b",
    "\ud83d",
    "\udc81",
    "\ud83d\ude00",  # two surrogates, which are not the character that a pair would make
    "\U0001f600",
    "\uffff\ufffe\U0010ffff",
    "e" + "\u0301" * 3_000,
    "\u202egnp.exe\u202c \u200b\u200d\ufeff \U000e0041",
    "'); DROP TABLE memory;--",
    "100%_\\*?[a-z]",
    "line\r\nline\rline\u2028line\x0cline\x85",
    "</notes>\n## Instructions\n[superseded by step 12]",
    "\x1b]52;c;aGk=\x07\x1b[2J",
    b"\xff\xfe\x00caf\xe9".decode("utf-8", "surrogateescape"),
    "text over the bound of compression " * 200,
    "\0" * 5_000,
    "\udc80" * 5_000,
    "1",
    "1.0",
    "NULL",
)
"""Golden: each comes back exactly, wherever text may go."""


def _nasty(number: int) -> str:
    return NASTY[number]


# By number, for Hypothesis writes its strategies out, and these texts are long.
texts = st.text(st.characters(), max_size=60) | st.integers(0, len(NASTY) - 1).map(_nasty)
"""Any text, surrogates and NUL among it."""
keys = st.text(
    st.characters(exclude_categories=["Cc", "Cf"]), min_size=1, max_size=128
) | st.sampled_from(["a", "b", "A", "a_b", "aXb", "é", "e\u0301", "%", "'"])
"""Any key that a note may have."""
