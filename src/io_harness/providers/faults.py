"""What a vendor's refusal means: one place that turns wordings into kinds."""

from __future__ import annotations

import errno
import http.client
import os
import re
import ssl
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol

from io_harness.errors import ErrorKind, ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    r"|request too large for .{0,500} tokens per min",
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
_READ_CHARS = 20_000
"""Of what a server says, which may be a page without an end: it is read by slow patterns."""
_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_USER_INFO = re.compile(r"//[^/@]*@")


def is_overflow(text: str) -> bool:
    """Say whether a server's words mean that the request does not fit the model."""
    return _OVERFLOW.search(text) is not None


class Response(Protocol):
    """What is needed of a vendor's HTTP response."""

    @property
    def status_code(self) -> int: ...  # noqa: D102
    @property
    def headers(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102


def answered(who: str, body: object, response: Response) -> ProviderError:
    """Return the error for a response that is none; `body` is what its SDK made of the text."""
    status, headers = response.status_code, response.headers
    where = headers.get("location", "") if 300 <= status < 400 else ""
    if where:
        return ProviderError(
            f"{who} answered {status}: it sends requests on to {_shortened(_without_user(where))}, "
            "where nothing was sent: if that is the right server, name it",
            kind="request",
        )
    text = (said(body) or response.text)[:_READ_CHARS]
    if text.lstrip().startswith("<"):  # a proxy's page
        text = _MARKUP.sub(" ", text)
    reason = http.client.responses.get(status, "it gave no reason")
    return refused(who, status, text.strip() or reason, headers=headers)


def said(body: object) -> str:
    """Return an error body's code, type and message as one text, empty where it has none."""
    if isinstance(body, dict):
        error = body.get("error") or body
        if isinstance(error, dict):
            parts = (error.get(key) for key in ("code", "type", "message"))
            return " ".join(dict.fromkeys(str(part) for part in parts if part))
        body = error
    return body if isinstance(body, str) else ""


def inside(who: str, answer: Mapping[str, object]) -> ProviderError:
    """Return the error for an answer of status 200 that says nothing, or holds an error.

    OpenRouter sends what went wrong upstream so, local servers what went wrong in the middle.
    """
    error = answer.get("error")
    if not error:
        return empty(who)
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return refused(who, status, said(answer) or str(error))


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
    causes = list(_causes(cause))
    # A certificate is no better a second later.
    distrusted = any(isinstance(one, ssl.SSLCertVerificationError) for one in causes)
    return ProviderError(
        f"the connection to {who} at {where} failed: {_shortened(_root_of(causes))}",
        kind="transport",
        retryable=False if distrusted else None,
    )


def late(who: str, seconds: float) -> ProviderError:
    """Return the error for an answer that did not come within so many seconds."""
    return ProviderError(f"nothing came from {who} within {seconds:g} seconds", kind="timeout")


def gave_up(who: str, why: TimeoutError) -> ProviderError:
    """Return the error for a provider that itself ended its wait for an answer."""
    return ProviderError(f"{who} gave up: {_shortened(str(why) or 'timed out')}", kind="timeout")


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


def _without_user(url: str) -> str:
    return _USER_INFO.sub("//", url)


def _shortened(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and one by one what it came of."""
    cause: BaseException | None = error
    seen: set[int] = set()  # causes that somebody set can go round
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _root_of(causes: Sequence[BaseException]) -> str:
    """What the system said first: the layers above only repeat that something failed."""
    said = str(causes[0]) or type(causes[0]).__name__
    for cause in causes:
        if isinstance(cause, OSError) and cause.errno is not None:
            known = cause.errno in errno.errorcode and not isinstance(cause, ssl.SSLError)
            said = os.strerror(cause.errno) if known else str(cause.strerror)
    return said


# What is worth another attempt needs no advice: the run makes the attempts.
_ADVICE: dict[ErrorKind, str] = {
    "auth": "check the key and what it may use",
    "request": "change the model or what is sent",
    "context_overflow": "make the request smaller",
}
