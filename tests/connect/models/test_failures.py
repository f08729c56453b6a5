"""Faults that no server on this machine can be made to show."""

from __future__ import annotations

import socket
import ssl

import httpx2
import pytest

from wieldy.connect.models.failures import ServerFacts, failure_of_transport, quoted
from wieldy.connect.models.retries import Timeouts
from wieldy.core.errors import ModelUnreachableError

SERVER = ServerFacts(address="https://h/v1", key_help="Set a key.", secret="sk-secret")


def failure(cause: BaseException) -> ModelUnreachableError:
    error = httpx2.ConnectError("failed")
    error.__cause__ = OSError("several addresses failed")
    error.__cause__.__cause__ = (
        ExceptionGroup("all", [OSError("no route"), cause]) if isinstance(cause, OSError) else cause
    )
    found = failure_of_transport(SERVER, error, timeouts=Timeouts())
    assert isinstance(found, ModelUnreachableError)
    return found


@pytest.mark.parametrize(
    ("cause", "words", "is_transient"),
    [
        (ssl.SSLCertVerificationError("certificate has expired"), "certificate has expired.*the clock", False),
        (ssl.SSLError("wrong version number"), "use http:// instead", False),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "has no address", False),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), "has no address", True),
        (ConnectionRefusedError("refused"), "Nothing listens at https://h/v1", True),
        (OSError("no route to host"), "failed before an answer began", True),
    ],
)
def test_the_cause_is_found_however_deep_it_lies(cause, words, is_transient):
    error = failure(cause)
    assert error.is_transient is is_transient
    with pytest.raises(ModelUnreachableError, match=words):
        raise error


def test_causes_that_go_in_a_circle_are_followed_once():
    error = httpx2.ReadError("broken")
    error.__cause__ = OSError("a")
    error.__cause__.__context__ = error
    assert "broken" in str(failure_of_transport(SERVER, error, timeouts=Timeouts()))


def test_a_proxy_that_refuses_is_not_asked_again():
    assert not failure_of_transport(SERVER, httpx2.ProxyError("407"), timeouts=Timeouts()).is_transient


def test_a_quotation_holds_no_key_no_control_character_and_no_end():
    text = quoted("a\x1b[0m\u202e sk-\x1b[1msecret sk-secret\n" + "b" * 5_000, SERVER)
    assert "sk-secret" not in text
    assert text.isprintable()
    assert len(text) < 500


def test_escape_sequences_leave_nothing_in_a_quotation():
    assert quoted("\x1b[1;31mred\x1b[0m, \x1b]0;title\x07named", SERVER) == "'red, named'"
