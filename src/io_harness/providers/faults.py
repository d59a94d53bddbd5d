"""What a vendor's refusal means: one place that turns wordings into kinds."""

from __future__ import annotations

import errno
import os
import re
import ssl
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from io_harness.errors import ErrorKind, ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping

# As the servers say it: OpenAI, Azure and OpenRouter (maximum context length, configured limit,
# string_above_max_length, tokens per minute that one request alone exceeds), Anthropic (prompt is
# too long, exceed context limit), llama.cpp and its Python server (available context size, context
# window), vLLM (maximum model length), Ollama, TGI, xAI, Gemini's compatible endpoint.
_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size_error|string_above_max_length"
    r"|model_context_window_exceeded"
    r"|maximum context length|context length exceeded|exceeds? (?:the )?context length"
    r"|exceed(?:s|ed)? (?:the )?max(?:imum)? context length"
    r"|exceed(?:s|ed)? (?:the |your )?(?:model'?s? )?(?:context (?:limit|window)|available context)"
    r"|context size has been exceeded|context window (?:exceeds|is full|full)"
    r"|prompt is too long|prompt too long|input is too long|input length and `?max_tokens`? exceed"
    r"|maximum prompt length|maximum model length|prompt exceeds the length limit"
    r"|input tokens exceed|input token count|exceeded model token limit"
    r"|reduce the length of the (?:messages|prompt|input)"
    r"|`?inputs`? (?:must have less than|tokens \+ `?max_new_tokens`?)"
    r"|request too large for .* tokens per min",
    re.IGNORECASE | re.DOTALL,
)
_OUT_OF_CREDIT = re.compile(
    r"insufficient_quota|billing_error|credit balance is too low|exceeded your current quota",
    re.IGNORECASE,
)
_KIND_OF_STATUS: dict[int, ErrorKind] = {
    401: "auth",
    402: "auth",
    403: "auth",
    408: "timeout",
    409: "server",
    413: "context_overflow",
    425: "server",
    429: "rate_limited",
}
_SHOWN_CHARS = 500


def is_overflow(text: str) -> bool:
    """Say whether a server's words mean that the request does not fit the model."""
    return _OVERFLOW.search(text) is not None


def said(body: object, otherwise: str) -> str:
    """Return an error body's code, type and message as one text, or `otherwise`."""
    if not isinstance(body, dict):
        return otherwise
    error = body.get("error")
    error = error if isinstance(error, dict) else body
    parts = (error.get(key) for key in ("code", "type", "message"))
    return " ".join(dict.fromkeys(str(part) for part in parts if part)) or otherwise


def refused(
    who: str, status: int, text: str, *, headers: Mapping[str, str] | None = None
) -> ProviderError:
    """Return the error for an HTTP status of 400 or more and what the server said with it.

    `who` names vendor and model. `text` is the message with any code and type the body had.
    """
    kind: ErrorKind = _KIND_OF_STATUS.get(status, "server" if status >= 500 else "request")
    if status not in (401, 403) and is_overflow(text):
        kind = "context_overflow"
    if status in (400, 402, 429) and _OUT_OF_CREDIT.search(text) is not None:
        kind, advice = "auth", "add credit or quota to the account"
    else:
        advice = _ADVICE.get(kind, "")
    said = f"{who} answered {status}: {_shortened(text)}"
    return ProviderError(
        f"{said}: {advice}" if advice else said,
        kind=kind,
        retry_after=None if headers is None else retry_after(headers),
    )


def unreachable(who: str, where: str, cause: BaseException) -> ProviderError:
    """Return the error for a connection that was not made, or broke; `where` is host and port."""
    return ProviderError(
        f"the connection to {who} at {where} failed: {_shortened(_root_of(cause))}",
        kind="transport",
    )


def late(who: str, seconds: float) -> ProviderError:
    """Return the error for an answer that did not come within so many seconds."""
    return ProviderError(f"nothing came from {who} within {seconds:g} seconds", kind="timeout")


def unusable(who: str, why: str) -> ProviderError:
    """Return the error for an answer that cannot be understood."""
    return ProviderError(f"{who} gave no usable answer: {_shortened(why)}", kind="malformed")


def empty(who: str) -> ProviderError:
    """Return the error for an answer that holds no text, no call and no usage."""
    return unusable(who, "it is empty: no text, no call, no usage")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait, from any of the three spellings in use.

    https://www.rfc-editor.org/rfc/rfc9110#field.retry-after; `retry-after-ms` is Azure's.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    wished = headers.get("retry-after")
    seconds = _number(wished)
    if seconds is not None or wished is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(wished).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _shortened(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"


def _root_of(error: BaseException) -> str:
    """What the system said first: the layers above only repeat that something failed."""
    said = str(error) or type(error).__name__
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        if isinstance(cause, OSError) and cause.errno is not None:
            known = cause.errno in errno.errorcode and not isinstance(cause, ssl.SSLError)
            said = os.strerror(cause.errno) if known else str(cause.strerror)
        cause = cause.__cause__ or cause.__context__
    return said


# What is worth another attempt needs no advice: the run makes the attempts.
_ADVICE: dict[ErrorKind, str] = {
    "auth": "check the key and what it may use",
    "request": "change the model or what is sent",
    "context_overflow": "make the request smaller",
}
