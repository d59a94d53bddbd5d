"""Every answer and fault a vendor can give, through its real SDK, becomes what it means."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from io_harness.errors import ConfigError, ProviderError
from io_harness.providers import faults
from io_harness.providers.anthropic import AnthropicProvider
from io_harness.providers.openai import OpenAIProvider
from io_harness.types import Completion, ToolCall, Usage
from tests.providers.shapes import a_request, anthropic_answer, openai_answer
from tests.vendor import Reply, vendor

if TYPE_CHECKING:
    from io_harness.providers.base import Provider

VENDORS = ("anthropic", "openai")


def provider(name: str, url: str, timeout: float = 20.0, key: str = "kk-kk") -> Provider:
    if name == "anthropic":
        return AnthropicProvider("m", api_key=key, base_url=url, timeout=timeout)
    return OpenAIProvider("m", api_key=key, base_url=url, timeout=timeout)


def answered(name: str, reply: Reply) -> Completion:
    with vendor([reply]) as server:
        return asyncio.run(provider(name, server.url).complete(a_request()))


def failed(name: str, reply: Reply) -> ProviderError:
    """Return the error of one request, and see that the SDK did not try again by itself."""
    with vendor([reply]) as server:
        with pytest.raises(ProviderError) as caught:
            asyncio.run(provider(name, server.url).complete(a_request()))
        assert len(server.seen) == 1
        return caught.value


def test_anthropic_text_calls_and_usage() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}}
    other = {"type": "tool_use", "id": "toolu_2", "name": "read_file", "input": {"path": "b"}}
    got = answered(
        "anthropic",
        Reply(anthropic_answer({"type": "text", "text": "Hm."}, use, other, stop="tool_use")),
    )
    assert got.text == "Hm."
    assert got.calls == (
        ToolCall("toolu_1", "read_file", {"path": "a"}),
        ToolCall("toolu_2", "read_file", {"path": "b"}),
    )
    assert got.usage == Usage(input=1_212, output=7, cache_read=1_000, cache_write=200)
    assert got.stop == "tool_use"


def test_openai_text_calls_and_usage() -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"path":"a"}'}},
        {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{oops"}},
        {"id": "c3", "type": "function", "function": {"name": "f", "arguments": "[1]"}},
        {"id": "c4", "type": "function", "function": {"name": "f", "arguments": ""}},
        {
            "id": "c5",
            "type": "function",
            "function": {"name": "f", "arguments": '{"n":' + "9" * 30 + "}"},
        },
    ]
    got = answered(
        "openai", Reply(openai_answer({"content": None, "tool_calls": calls}, "tool_calls"))
    )
    assert [call.arguments for call in got.calls] == [
        {"path": "a"},
        "{oops",
        "[1]",
        {},
        {"n": int("9" * 30)},
    ]
    assert got.usage == Usage(input=1_212, output=7, cache_read=1_000, cache_write=None)


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        (None, {}),
        ({"path": "a"}, {"path": "a"}),
        ('{"path":"a"}', {"path": "a"}),
        ("{oops", "{oops"),
        ('{"n":NaN}', '{"n":NaN}'),
        ([1], "[1]"),
        (7, "7"),
    ],
)
def test_what_a_call_has_for_arguments(given: object, arguments: object) -> None:
    use = {"type": "tool_use", "id": "1", "name": "f", "input": given}
    (one,) = answered("anthropic", Reply(anthropic_answer(use))).calls
    function = {"id": "1", "type": "function", "function": {"name": "f", "arguments": given}}
    (other,) = answered("openai", Reply(openai_answer({"tool_calls": [function]}))).calls
    assert one.arguments == other.arguments == arguments


@pytest.mark.parametrize("odd", ["x", 7, None, ["x"], {"type": "zzz"}, {"text": None}])
def test_parts_of_an_answer_that_are_none_are_left_out(odd: object) -> None:
    said = {"type": "text", "text": "Hm."}
    null = {"type": "text", "text": None}
    assert answered("anthropic", Reply(anthropic_answer(odd, null, said))).text == "Hm."
    got = answered(
        "openai", Reply(openai_answer({"content": [odd, null, said], "tool_calls": odd}))
    )
    assert (got.text, got.calls) == ("Hm.", ())


def test_a_refusal_is_an_answer() -> None:
    assert answered("anthropic", Reply(anthropic_answer(stop="refusal"))).stop == "refusal"
    got = answered("openai", Reply(openai_answer({"content": None, "refusal": "I can't."})))
    assert (got.text, got.stop) == ("I can't.", "refusal")


def test_usage_that_is_missing_or_absurd_is_not_reported() -> None:
    text = {"type": "text", "text": "x"}
    assert answered("anthropic", Reply(anthropic_answer(text, usage=None))).usage is None
    assert answered("openai", Reply(openai_answer({"content": "x"}, usage=None))).usage is None
    odd = {"prompt_tokens": -5, "completion_tokens": 10**30, "total_tokens": True}
    assert answered("openai", Reply(openai_answer({"content": "x"}, usage=odd))).usage is None
    bare = {"input_tokens": 5, "output_tokens": 1}
    got = answered("anthropic", Reply(anthropic_answer(text, usage=bare))).usage
    assert got == Usage(input=5, output=1)


def test_thinking_blocks_come_back_and_go_out_unchanged() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    got = answered("anthropic", Reply(anthropic_answer(thought, {"type": "text", "text": "x"})))
    assert got.reasoning == [thought]
    assert got.text == "x"


def test_nothing_at_all_is_malformed() -> None:
    assert failed("anthropic", Reply(anthropic_answer(usage=None))).kind == "malformed"
    assert failed("openai", Reply(openai_answer({"content": ""}, usage=None))).kind == "malformed"
    assert failed("openai", Reply(openai_answer({}, choices=[], usage=None))).kind == "malformed"
    assert answered("openai", Reply(openai_answer({"content": ""}))).text == ""


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("body", ["", "<html>proxy</html>", "[]", '{"a":', '"x"'])
def test_a_body_that_is_no_answer_is_malformed(name: str, body: str) -> None:
    error = failed(name, Reply(body))
    assert error.kind == "malformed"
    assert str(error).startswith(f"{name}:m gave no usable answer: ")


@pytest.mark.parametrize("name", VENDORS)
def test_a_connection_dropped_in_the_body_is_transport(name: str) -> None:
    error = failed(name, Reply(openai_answer({"content": "x" * 9_000}), cut=True))
    assert (error.kind, error.retryable) == ("transport", True)
    assert f"the connection to {name}:m at 127.0.0.1:" in str(error)


@pytest.mark.parametrize("name", VENDORS)
def test_nobody_there_is_transport(name: str) -> None:
    with pytest.raises(ProviderError) as caught:
        asyncio.run(provider(name, "http://user:secret@127.0.0.1:9/v1").complete(a_request()))
    assert caught.value.kind == "transport"
    said = f"the connection to {name}:m at 127.0.0.1:9 failed: Connection refused"
    assert str(caught.value) == said


def test_a_certificate_that_is_not_trusted_is_not_tried_again() -> None:
    error = ConnectionError("failed")
    error.__cause__ = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed")
    told = faults.unreachable("v:m", "host:443", error)
    assert (told.kind, told.retryable) == ("transport", False)
    assert str(told).endswith("failed: certificate verify failed: self-signed")


def test_causes_that_go_round_are_told_once() -> None:
    first, second = ConnectionError("first"), OSError(111, "Connection refused")
    first.__cause__, second.__cause__ = second, first
    said = str(faults.unreachable("v:m", "host:443", first))
    assert said == "the connection to v:m at host:443 failed: Connection refused"


@pytest.mark.parametrize(
    "page", ["<script>" * 200_000, "<" * 400_000, "<p>" + "request too large for " * 100_000]
)
def test_no_page_of_a_proxy_is_slow_to_read(page: str) -> None:
    told = faults.answered("v:m", None, Page(page))
    assert (told.kind, len(str(told)) < 1_000) == ("server", True)


@dataclass(frozen=True, slots=True)
class Page:
    """What a proxy answers in the place of a vendor."""

    text: str
    status_code: int = 502
    headers: Mapping[str, str] = field(default_factory=dict)


@pytest.mark.parametrize("name", VENDORS)
def test_a_name_nobody_has_is_transport(name: str) -> None:
    with pytest.raises(ProviderError) as caught:
        asyncio.run(provider(name, "http://no-such-host.invalid").complete(a_request()))
    assert caught.value.kind == "transport"
    assert re.fullmatch(
        rf"the connection to {name}:m at no-such-host.invalid failed: [^:]*[Nn]ame[^:]*",
        str(caught.value),
    )


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("slow", [Reply("{}", delay=10.0), Reply(" " * 1_000, drip=0.05)])
def test_no_answer_in_time_is_timeout(name: str, slow: Reply) -> None:
    with vendor([slow]) as server, pytest.raises(ProviderError) as caught:
        asyncio.run(provider(name, server.url, timeout=0.2).complete(a_request()))
    assert (caught.value.kind, caught.value.retryable) == ("timeout", True)
    assert str(caught.value) == f"nothing came from {name}:m within 0.2 seconds"


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "request", False),
        (401, "auth", False),
        (402, "auth", False),
        (403, "auth", False),
        (404, "request", False),
        (408, "timeout", True),
        (409, "server", True),
        (413, "context_overflow", False),
        (422, "request", False),
        (429, "rate_limited", True),
        (500, "server", True),
        (502, "server", True),
        (529, "server", True),
    ],
)
def test_a_status_is_a_kind(name: str, status: int, kind: str, retryable: bool) -> None:
    body = {"type": "error", "error": {"type": "some_error", "message": "No."}}
    error = failed(name, Reply(body, status=status))
    assert (error.kind, error.retryable) == (kind, retryable)
    said = f"{name}:m answered {status}: some_error No"
    assert str(error).startswith(said)
    assert retryable == (str(error) == said)  # what is tried again needs no advice


OVERFLOWS = """
anthropic 400 invalid_request_error | prompt is too long: 208310 tokens > 200000 maximum
anthropic 400 invalid_request_error | input length and `max_tokens` exceed context limit: \
190000 + 20000 > 200000
anthropic 413 request_too_large | Request exceeds the maximum size
openai 400 context_length_exceeded | This model's maximum context length is 8192 tokens. \
However, your messages resulted in 8545 tokens. Please reduce the length of the messages.
openai 400 invalid_request_error | Input tokens exceed the configured limit of 272000 tokens. \
Your messages resulted in 300000 tokens.
openai 400 string_above_max_length | string too long. Expected a maximum length
openai 429 rate_limit_exceeded | Request too large for gpt-4o in organization org-x on tokens \
per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in \
order to run successfully.
openai 400 exceed_context_size_error | request (4476 tokens) exceeds the available context size \
(4096 tokens), try increasing it
openai 500 server_error | Context size has been exceeded.
openai 400 - | Requested tokens (3000) exceed context window of 2048
openai 400 BadRequestError | The decoder prompt (length 5000) is longer than the maximum model \
length of 4096.
openai 400 api_error | prompt too long; exceeded max context length by 77 tokens
openai 422 validation | `inputs` must have less than 4096 tokens. Given: 5000
openai 400 invalid-argument | This model's maximum prompt length is 131072 but the request \
contains 537812 tokens.
openai 400 - | The input token count (1200000) exceeds the maximum number of tokens
"""


@pytest.mark.parametrize("row", OVERFLOWS.strip().splitlines())
def test_each_wording_of_a_full_context_is_known(row: str) -> None:
    head, _, message = row.partition(" | ")
    name, status, code = head.split()
    code = "" if code == "-" else code
    body = {"type": "error", "error": {"type": code, "code": code, "message": message}}
    error = failed(name, Reply(body, status=int(status)))
    assert (error.kind, error.retryable) == ("context_overflow", False)


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        "Invalid 'tools': expected an array with maximum length 128.",
        "messages.0.content: Input should be a valid list",
    ],
)
def test_other_refusals_are_not_taken_for_a_full_context(message: str) -> None:
    body = {"error": {"type": "invalid_request_error", "message": message}}
    assert failed("openai", Reply(body, status=400)).kind == "request"


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_servers_wish_to_wait_is_read(
    name: str, headers: dict[str, str], seconds: float | None
) -> None:
    error = failed(name, Reply({"error": {"message": "slow down"}}, status=429, headers=headers))
    assert error.retry_after == seconds


def test_a_date_to_wait_for_is_seconds_from_now() -> None:
    headers = {"retry-after": formatdate(time.time() + 30, usegmt=True)}
    wait = failed("openai", Reply("{}", status=429, headers=headers)).retry_after
    assert wait is not None
    assert 25 < wait <= 30


def test_no_credit_left_is_not_tried_again() -> None:
    body = {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}
    error = failed("openai", Reply(body, status=429))
    assert (error.kind, error.retryable) == ("auth", False)
    low = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"},
    }
    assert failed("anthropic", Reply(low, status=400)).kind == "auth"


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        ({"code": 502, "message": "Provider returned error"}, "server", "502 Provider returned"),
        ({"code": 429, "message": "slow down"}, "rate_limited", "slow down"),
        ({"type": "overloaded_error", "message": "Overloaded"}, "server", "overloaded_error Over"),
        ({"code": 3, "message": "odd"}, "server", "3 odd"),
        ("model is not loaded", "server", "model is not loaded"),
    ],
)
def test_an_error_inside_a_good_status_is_an_error(
    name: str, error: object, kind: str, says: str
) -> None:
    told = failed(name, Reply({"error": error}))
    assert (told.kind, says in str(told)) == (kind, True)


def test_an_error_inside_a_choice_is_an_error() -> None:
    half = {"message": {"content": "Half an"}, "error": {"code": 502, "message": "gone"}}
    assert failed("openai", Reply(openai_answer({}, choices=[half]))).kind == "server"


PAGE = "<html><head><style>p {}</style><title>502 Bad Gateway</title></head><p>nginx</p></html>"


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"error": "model 'm' not found"}, "model 'm' not found"),
        ({"error": "`inputs` must have less than 4096 tokens. Given: 5000"}, "`inputs` must have"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
        ({"message": "no route"}, "no route"),
        ([{"error": {"message": "bad"}}], "bad"),
        (PAGE, "502 Bad Gateway nginx"),
        ("upstream timed out", "upstream timed out"),
        ("", "Bad Request"),
        ("{}", "{}"),
    ],
)
def test_what_a_server_says_in_a_form_of_its_own_is_shown(
    name: str, body: object, says: str
) -> None:
    error = failed(name, Reply(body, status=400))
    assert str(error).startswith(f"{name}:m answered 400: ")
    assert says in str(error)
    assert error.kind == ("context_overflow" if "`inputs`" in says else "request")


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("status", [200, 401, 502])
@pytest.mark.parametrize("body", ["<p>{}</p>", '{{"error": {{"message": "bad key {}"}}}}'])
def test_a_key_that_a_server_says_back_is_not_told(name: str, status: int, body: str) -> None:
    reply = Reply(body.format("sk-of-this-test"), status=status)
    with vendor([reply]) as server, pytest.raises(ProviderError, match="the key") as caught:
        asyncio.run(provider(name, server.url, key="sk-of-this-test").complete(a_request()))
    assert "sk-of-this-test" not in str(caught.value)


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_neither_key_nor_prompt_goes_where_a_server_sends_them(name: str, status: int) -> None:
    with vendor([Reply(openai_answer({"content": "Mine now."}))]) as other:
        to = other.url.replace("//", "//user:word@").replace("127.0.0.1", "localhost")
        error = failed(name, Reply(status=status, headers={"location": f"{to}/v1"}))
        assert other.seen == []
    assert (error.kind, error.retryable) == ("request", False)
    assert f"sends requests on to {to.replace('user:word@', '')}/v1" in str(error)


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    ("variable", "value"),
    [("HTTPS_PROXY", "foo://bar"), ("SSL_CERT_FILE", "/no/such/file"), ("all_proxy", "x://")],
)
@pytest.mark.filterwarnings("error")
def test_an_environment_that_no_client_takes_is_named(
    name: str, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=rf"{name}:m cannot be asked .*look at .*{variable}"):
        asyncio.run(provider(name, "http://127.0.0.1:9").complete(a_request()))


@pytest.mark.parametrize("name", VENDORS)
def test_one_provider_serves_several_event_loops(name: str) -> None:
    text = {"type": "text", "text": "x"}
    shape = anthropic_answer(text) if name == "anthropic" else openai_answer({"content": "x"})
    with vendor([Reply(shape)]) as server:
        kept = provider(name, server.url)
        texts = [asyncio.run(kept.complete(a_request())).text for _ in range(2)]
    assert texts == ["x", "x"]
