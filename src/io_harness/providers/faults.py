"""What a vendor's refusal means: one place that turns wordings into kinds."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from io_harness.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.errors import ErrorKind

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
    kind = _KIND_OF_STATUS.get(status, "server" if status >= 500 else "request")
    if status not in (401, 403) and is_overflow(text):
        kind = "context_overflow"
    out_of_credit = status in (400, 402, 429) and _OUT_OF_CREDIT.search(text) is not None
    return ProviderError(
        f"{who} answered {status}: {_shortened(text)}. {_advice(kind, out_of_credit)}",
        kind="auth" if out_of_credit else kind,
        retry_after=None if headers is None else retry_after(headers),
    )


def unreachable(who: str, kind: ErrorKind, cause: BaseException) -> ProviderError:
    """Return the error for an answer that never came, or came broken."""
    said = _shortened(str(cause) or type(cause).__name__)
    return ProviderError(f"{who} gave no usable answer: {said}. {_advice(kind)}", kind=kind)


def empty(who: str) -> ProviderError:
    """Return the error for an answer that holds no text, no call and no usage."""
    return ProviderError(
        f"{who} gave an empty answer: no text, no call, no usage. {_advice('malformed')}",
        kind="malformed",
    )


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


def _advice(kind: ErrorKind, out_of_credit: bool = False) -> str:
    if out_of_credit:
        return "The account has no credit or quota left: add some and resume the run."
    return {
        "transport": "The connection failed; it is worth another attempt.",
        "timeout": "No answer in time; it is worth another attempt.",
        "rate_limited": "Too many requests; it is worth another attempt later.",
        "server": "The server failed; it is worth another attempt.",
        "malformed": "It is worth another attempt.",
        "auth": "Check the key and what it may use.",
        "request": "The request is not accepted as it is; another attempt would not help.",
        "context_overflow": "The request does not fit the model; it must be made smaller.",
    }[kind]
