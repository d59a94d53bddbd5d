"""Deliberate mistakes in the assembler, each of which the oracle must notice.

Each is a piece of source replaced by another. A piece that is no longer found is an error: then
the mutation has to be written anew for the code as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """`old` in a module of `io_harness.context` becomes `new`, a template where `old` is one.

    `priced` ones show only where a rewrite has to pay.
    """

    name: str
    module: str
    old: str | re.Pattern[str]
    new: str
    priced: bool = False

    def applied(self, source: str) -> tuple[str, int]:
        """The source with the mistake in it, and how often its place was found."""
        if isinstance(self.old, re.Pattern):
            return self.old.subn(self.new, source)
        return source.replace(self.old, self.new), source.count(self.old)


MUTATIONS = (
    Mutation(
        "key by path alone",
        "view",
        "else (shown.lo, shown.hi)",
        "else (0, 1 << 62)",
    ),
    Mutation(
        "cover what was asked, not what is shown",
        "view",
        "else (shown.lo, shown.hi)",
        "else (shown.lo, shown.hi if head is None else 1 << 62)",
    ),
    Mutation(
        "the end of a file is not seen",
        "_lines_py",
        "return END if self.reached else",
        "return END if False else",
    ),
    Mutation(
        "every read reached the end",
        "_lines_py",
        "return END if self.reached else",
        "return END if True else",
    ),
    Mutation("marker not counted", "bound", "len(whole) <= cap and", "len(cut.text) <= cap and"),
    Mutation(
        "escape before cut",
        "bound",
        "    above = keep in",
        "    text = escape(text)\n    above = keep in",
    ),
    Mutation(
        "off by one above the ceiling",
        "assemble",
        "ceiling.chars - len(block.text)",
        "ceiling.chars - len(block.text) + 1",
    ),
    Mutation(
        "off by one below the ceiling",
        "_kernel_py",
        "if left < 0:",
        "if left <= 0:",
    ),
    Mutation(
        "arguments not counted",
        "view",
        "size = len(text) + len(args)",
        "size = len(text)",
    ),
    Mutation(
        "memory block not counted",
        "_kernel_py",
        "chars = len(block) + self.used",
        "chars = self.used",
    ),
    Mutation(
        "refresh once ever",
        "freshness",
        "return before is None or not before.settled or now != before",
        "return before is None",
    ),
    Mutation(
        "a signature is trusted however fresh",
        "freshness",
        "return before is None or not before.settled or now != before",
        "return before is None or now != before",
    ),
    Mutation(
        "refresh every turn",
        "freshness",
        "if digest is not None and digest == now.digest:\n        return True",
        "return False",
    ),
    Mutation(
        "ask is as good as allow",
        "freshness",
        'return "" if effect is Effect.ALLOW else',
        'return "" if True else',
    ),
    Mutation(
        "open first, ask later",
        "freshness",
        "            real = self._reader.canonical(path)\n",
        "            self._reader.signature(path) and self._reader.read(path)\n"
        "            real = self._reader.canonical(path)\n",
    ),
    Mutation(
        "a failed refresh keeps the old text",
        "watch",
        "        if now is None:\n            self.fail(position, step, look.because)\n",
        "        if now is None:\n            self._view.kernel.freshen(position)\n",
    ),
    Mutation(
        "stub names the oldest answer",
        "view",
        "[self.place(kernel.last(gid), position)]",
        "[self.place(0, position)]",
    ),
    Mutation(
        "a usual stub names the newest of all",
        "view",
        "step, by = observation.step, kernel.replaced_by(position)",
        "step, by = observation.step, kernel.newest()",
    ),
    Mutation(
        "stub names a read that does not replace it",
        "view",
        "later = kernel.covering(gid, shown.lo, shown.hi)",
        "later = [kernel.newest()]",
    ),
    Mutation(
        "drop instead of stub",
        "_kernel_py",
        'line = filled(collapsed, grouped(self.hidden)) if self.hidden else ""',
        'line = ""',
    ),
    Mutation(
        "what does not fit is passed over",
        "_kernel_py",
        re.compile(r"(if left < 0:\s+)break"),
        r"\1left += sizes[position]; position = before[position]; continue",
    ),
    Mutation(
        "the newest may be left out",
        "assemble",
        "if not kernel.carried and kernel.live:",
        "if False:",
    ),
    Mutation(
        "stubs take what room there is",
        "assemble",
        "kernel.start_stubs(ceiling.stubs - COLLAPSED_CHARS,",
        "kernel.start_stubs(2 * ceiling.stubs,",
    ),
    Mutation(
        "content as it is",
        "grammar",
        "if has_any(text, SIGNS) else text",
        "if False else text",
    ),
    Mutation(
        "content breaks at LF alone",
        "grammar",
        r'_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"',
        r'_BREAKS = "\n"',
    ),
    Mutation(
        "aliases of a path are files of their own",
        "keys",
        "path = canonical(target)",
        "path = target",
    ),
    Mutation(
        "a search's scope is no part of its question", "keys", "{observation.scope or ''}", ""
    ),
    Mutation(
        "a search keeps quiet about writes", "watch", "        if written:\n", "        if False:\n"
    ),
    Mutation(
        "the oldest notes stay",
        "render",
        "enumerate(reversed(ordered), start=1)",
        "enumerate(ordered, start=1)",
    ),
    Mutation(
        "notes take a third",
        "budget",
        "block=tokens // 4 * CHARS_PER_TOKEN",
        "block=tokens // 3 * CHARS_PER_TOKEN",
    ),
    Mutation(
        "a stub keeps its arguments whole",
        "arguments",
        "return elided(args, STUB_CHARS)",
        "return args",
    ),
    Mutation(
        "all of the section is said to be stable",
        "assembled",
        re.compile(r"self\._stable = shared_prefix\(.*\)"),
        "self._stable = len(self._text)",
    ),
    Mutation("errors are sent as results", "messages", "piece.kind is ObsKind.ERROR", "False"),
    Mutation("steps share a message", "messages", "if piece.step != self._step:", "if False:"),
    Mutation("parse keeps the escapes", "grammar", '_ESCAPED.sub("", text)', "text"),
    Mutation(
        "changes are not told between rewrites",
        "priced",
        "if file.version == version:",
        "if True:",
        priced=True,
    ),
    Mutation(
        "later lines move by one too many",
        "hunks",
        "return self.new[1] - self.old[1]",
        "return self.new[1] - self.old[1] + 1",
        priced=True,
    ),
    Mutation(
        "a forgotten note stays in view",
        "priced",
        "if not keys.issuperset(section.block.recalled):",
        "if False:",
        priced=True,
    ),
    Mutation(
        "what could not be read again stays in view",
        "priced",
        "return [self._void(section, gid, step, reason, look.because)]",
        "return []",
        priced=True,
    ),
)
