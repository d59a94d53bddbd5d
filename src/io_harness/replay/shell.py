"""Shell scripts as pipelines of simple commands, parsed by tree-sitter's bash grammar (MIT)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import tree_sitter

_WORDS = frozenset(
    {"word", "raw_string", "string", "concatenation", "number", "ansi_c_string"}
    | {"simple_expansion", "expansion", "command_substitution", "process_substitution"}
    | {"translated_string", "arithmetic_expansion", "brace_expression", "special_character"}
)
_DYNAMIC = frozenset({"simple_expansion", "expansion", "command_substitution"})
_UNQUOTE = re.compile(r"\\(\n|.)", re.DOTALL)
_UNQUOTE_DOUBLE = re.compile(r"\\([$`\"\\\n])")
MAX_SCRIPT_CHARS = 200_000
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where a command's standard output goes."""

    path: str
    append: bool


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command: its words unquoted, its output files, what a heredoc feeds it.

    `heredoc` is the text as the command gets it, `None` without one or where the shell would
    expand something in it. `dynamic` tells that a word holds an expansion, left as written.
    """

    words: tuple[str, ...]
    redirects: tuple[Redirect, ...] = ()
    heredoc: str | None = None
    dynamic: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands whose output flows left to right; `source` is the script's own text."""

    commands: tuple[Command, ...]
    source: str


@lru_cache(maxsize=4096)
def parse(script: str) -> tuple[Pipeline, ...]:
    """The pipelines of a script in order, those inside groups and conditions too.

    What the grammar cannot read is passed over; a script too long to be a command gives none.
    """
    if len(script) > MAX_SCRIPT_CHARS:
        return ()
    source = script.encode("utf-8", "replace")
    return tuple(_pipelines(_parser().parse(source).root_node, 0))


@cache
def _parser() -> tree_sitter.Parser:
    """Made at first use: most commands of the command line parse no shell."""
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _pipelines(node: tree_sitter.Node, depth: int) -> Iterator[Pipeline]:
    if depth > MAX_DEPTH or node.type == "function_definition":
        return
    if node.type in {"command", "pipeline", "redirected_statement"}:
        for earlier in _before(node):
            yield from _pipelines(earlier, depth + 1)
        commands = tuple(_commands(node))
        if commands:
            yield Pipeline(commands, _text(node).strip())
            return
    for child in node.named_children:
        yield from _pipelines(child, depth + 1)
    if node.type == "redirected_statement":
        group = _redirected(Command(()), tuple(node.children_by_field_name("redirect")))
        if group.redirects:
            yield Pipeline((group,), _text(node).strip())


def _before(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """What runs before the pipeline: the grammar reads `a && b 2>&1 | c` as `(a && b 2>&1) | c`."""
    while node.type in {"pipeline", "redirected_statement"} and node.named_children:
        node = node.named_children[0]
    return node.named_children[:-1] if node.type == "list" else []


def _commands(node: tree_sitter.Node) -> Iterator[Command]:
    """The simple commands of one pipeline; none for a group, whose parts stand on their own."""
    if node.type == "command":
        yield _command(node, ())
    elif node.type == "list":
        yield from _commands(node.named_children[-1])
    elif node.type == "pipeline":
        for child in node.named_children:
            yield from _commands(child)
    elif node.type == "redirected_statement":
        body = node.child_by_field_name("body")
        redirects = tuple(node.children_by_field_name("redirect"))
        inner = list(_commands(body)) if body is not None else []
        if inner:
            yield from inner[:-1]
            yield _redirected(inner[-1], redirects)
        elif body is None:
            yield _redirected(Command(()), redirects)
        for redirect in redirects:
            for child in redirect.named_children:
                if child.type in {"pipeline", "command"}:
                    yield from _commands(child)


def _command(node: tree_sitter.Node, redirects: tuple[tree_sitter.Node, ...]) -> Command:
    words: list[str] = []
    dynamic = False
    inner = [*redirects]
    for child in node.named_children:
        is_name = child.type == "command_name" and child.named_children
        part = child.named_children[0] if is_name else child
        if part.type in _WORDS:
            words.append(_word(part))
            dynamic = dynamic or _is_dynamic(part)
        elif child.type in {"file_redirect", "heredoc_redirect", "herestring_redirect"}:
            inner.append(child)
    return _redirected(Command(tuple(words), dynamic=dynamic), tuple(inner))


def _is_dynamic(node: tree_sitter.Node) -> bool:
    waiting = [node]  # no recursion: arithmetic can be nested as deep as a script is long
    while waiting:
        inner = waiting.pop()
        if inner.type in _DYNAMIC:
            return True
        waiting.extend(inner.named_children)
    return False


def _redirected(command: Command, redirects: tuple[tree_sitter.Node, ...]) -> Command:
    outputs = list(command.redirects)
    heredoc = command.heredoc
    words = command.words
    for node in redirects:
        if node.type == "file_redirect":
            outputs.extend(_output(node))
        elif node.type == "heredoc_redirect":
            heredoc = _heredoc(node)
            for child in node.named_children:
                if child.type == "file_redirect":
                    outputs.extend(_output(child))
                elif child.type in _WORDS:
                    words = (*words, _word(child))
    return Command(words, tuple(outputs), heredoc, command.dynamic)


def _output(node: tree_sitter.Node) -> Iterator[Redirect]:
    """The file that standard output goes to; other descriptors and inputs give nothing."""
    descriptor = next((c for c in node.children if c.type == "file_descriptor"), None)
    operator = next((c.type for c in node.children if c.type.startswith((">", "&>"))), "")
    if descriptor is not None and _text(descriptor) != "1":
        return
    if operator not in {">", ">>", ">|", "&>", "&>>"}:
        return
    target = node.child_by_field_name("destination")
    if target is not None and not _text(target).startswith(("/dev/", "&")):
        yield Redirect(_word(target), operator.endswith(">>"))


def _heredoc(node: tree_sitter.Node) -> str | None:
    start = next((c for c in node.children if c.type == "heredoc_start"), None)
    body = next((c for c in node.children if c.type == "heredoc_body"), None)
    text = _text(body) if body is not None else ""
    if any(child.type == "<<-" for child in node.children):
        text = re.sub(r"(?m)^\t+", "", text)
    if start is not None and _text(start)[:1] in {"'", '"', "\\"}:
        return text
    return None if re.search(r"[$`]", text) else _UNQUOTE_DOUBLE.sub(r"\1", text)


def _word(node: tree_sitter.Node) -> str:
    """A word as the command gets it; an expansion stays as it is written."""
    text = _text(node)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "string":
        return _UNQUOTE_DOUBLE.sub(lambda m: m[1].strip("\n"), text[1:-1])
    if node.type == "ansi_c_string":
        return _ansi(text[2:-1])
    if node.type == "concatenation":
        return "".join(_word(child) for child in node.children)
    if node.type == "word":
        return _UNQUOTE.sub(lambda m: m[1].strip("\n"), text)
    return text


_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "e": "\x1b"}


def _ansi(text: str) -> str:
    return _UNQUOTE.sub(lambda m: _ANSI.get(m[1], m[0]), text)
