"""What the words of a report mean, for who sees one the first time."""

from __future__ import annotations

from io_harness.replay.policy import Terms


def legend(terms: Terms) -> tuple[tuple[str, str], ...]:
    """Each word of the report with its meaning in a phrase."""
    return (
        ("everything", "no harness: each request repeats all that came before"),
        ("every-turn", "assembled anew for each request, whatever that does to the cache"),
        ("priced", "assembled anew only when that pays: this library's way"),
        ("limit", "each result sent once, then cached: no policy costs less"),
        (
            "billed",
            f"the input's cost in plain tokens: cached × {terms.read:g} + rest × {terms.write:g}",
        ),
        ("of all, geo", "billed as a share of everything's; geo is the mean over runs"),
        ("sent, largest", "tokens of all requests together; of the largest one"),
        ("cached, breaks", "share that repeats the request before; how often it did not"),
        ("strict", "edits that had the file's newest text in view, of everything's"),
        ("quoted", "edits that had every line they replace in view, of everything's"),
        ("echo", "names used again that were still in view, of everything's"),
    )
