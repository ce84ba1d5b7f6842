"""Targets and headers: one reading, no credentials."""

import re
from http import HTTPStatus
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.providers import ApiCall
from orchestrator.core.sandbox.refusal import CallRefusal
from orchestrator.core.sandbox.request_rules import (
    RequestTarget,
    answered_headers,
    forwarded_headers,
    framing_refusal,
    is_allowed,
    read_target,
)

_CALLS = (
    ApiCall(method="POST", path="/v1/messages"),
    ApiCall(method="GET", path="/v1/models/*"),
    ApiCall(method="POST", path="/v1beta/models/*:generateContent"),
)


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/v1/messages", "/v1/messages", ""),
        ("/v1/messages?beta=true", "/v1/messages", "beta=true"),
        ("/v1beta/models/g-2.5:streamGenerateContent?alt=sse&key=x",
         "/v1beta/models/g-2.5:streamGenerateContent", "alt=sse"),
        ("/a?KEY=x&b=1", "/a", "b=1"),
        ("/a?%6Bey=x&b=key", "/a", "b=key"),
        ("/a?b=1;access_token=x", "/a", "b=1"),
        ("/a?api%5fkey=x", "/a", ""),
        ("/a?pageToken=5&key+=x", "/a", "pageToken=5"),
        ("/a?", "/a", ""),
        ("/a%41b", "/a%41b", ""),
    ],
)  # fmt: skip
def test_a_target_keeps_its_path_and_loses_its_credentials(target: str, path: str, query: str) -> None:
    assert read_target(target) == RequestTarget(path=path, query=query)


@given(target=st.text(alphabet=st.sampled_from("/.%25eEfFcC2\\?#;ab:@0"), max_size=20).map("/".__add__))
def test_a_path_that_passes_has_no_second_reading(target: str) -> None:
    found = read_target(target)

    if isinstance(found, RequestTarget):
        decoded = unquote(unquote(found.path))
        assert "//" not in decoded
        assert not {".", ".."} & set(re.split(r"[/\\]", decoded))
        assert found.path.count("/") == decoded.count("/")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/v1/messages", True),
        ("post", "/v1/messages", False),
        ("GET", "/v1/messages", False),
        ("POST", "/v1/messages/", False),
        ("POST", "/v1/messages/batches", False),
        ("POST", "/V1/messages", False),
        ("GET", "/v1/models/claude-x", True),
        ("GET", "/v1/models/", False),
        ("GET", "/v1/models/a/b", False),
        ("GET", "/v1/models/a%62", False),
        ("POST", "/v1beta/models/g-2.5:generateContent", True),
        ("POST", "/v1beta/models/g:batchX:generateContent", False),
        ("POST", "/v1beta/models/g:generateContent\n", False),
    ],
)
def test_a_call_is_allowed_letter_by_letter(method: str, path: str, allowed: bool) -> None:
    assert is_allowed(method, path, _CALLS) is allowed


@pytest.mark.parametrize(
    "name",
    [
        "authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "proxy-connection",
        "x-amz-security-token", "x-client-secret", "x-forwarded-host", "x-http-method-override", "host",
        "transfer-encoding", "content-length", "connection", "upgrade", "te", "x-original-url",
        "openai-organization", "x-goog-user-project", "accept-encoding", "x-named-by-connection",
    ],
)  # fmt: skip
def test_a_header_that_is_ours_or_a_credential_stays_behind(name: str) -> None:
    given_headers = [
        (b"connection", b"close, X-Named-By-Connection"),
        (name.encode(), b"1"),
        (b"accept", b"*"),
    ]

    assert forwarded_headers(given_headers) == [(b"accept", b"*")]


def test_what_a_program_says_of_itself_and_its_body_goes_on() -> None:
    own = [(b"anthropic-version", b"1"), (b"anthropic-beta", b"x"), (b"user-agent", b"u"),
           (b"content-type", b"application/json"), (b"session_id", b"7")]  # fmt: skip

    assert forwarded_headers(own) == own


def test_nothing_in_an_answer_leads_elsewhere_or_stays() -> None:
    answer = [(b"Content-Type", b"a"), (b"Location", b"b"), (b"Set-Cookie", b"c"), (b"Alt-Svc", b"d"),
              (b"Retry-After", b"5"), (b"Transfer-Encoding", b"chunked"),
              (b"Content-Length", b"3")]  # fmt: skip

    assert answered_headers(answer) == [
        (b"content-type", b"a"),
        (b"retry-after", b"5"),
        (b"content-length", b"3"),
    ]


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", [(b"content-length", b"3")], None),
        ("POST", [(b"transfer-encoding", b"chunked")], None),
        ("POST", [(b"content-encoding", b"identity")], None),
        ("POST", [(b"content-length", b"3"), (b"transfer-encoding", b"chunked")], HTTPStatus.BAD_REQUEST),
        ("POST", [(b"content-length", b"3"), (b"content-length", b"3")], HTTPStatus.BAD_REQUEST),
        ("POST", [(b"content-encoding", b"gzip")], HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ("POST", [(b"content-encoding", b"identity, br")], HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ("CONNECT", [(b"content-length", b"0")], HTTPStatus.BAD_REQUEST),
        ("CONNECT", [], None),
    ],
)
def test_a_request_ends_at_one_place_only(
    method: str, headers: list[tuple[bytes, bytes]], status: HTTPStatus | None
) -> None:
    refusal = framing_refusal(method, headers)

    assert (refusal.status if isinstance(refusal, CallRefusal) else None) == status
