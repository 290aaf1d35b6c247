"""Requests that this server makes: one POST to an address that a person typed in.

Guarded, because the typist may aim at machines that only this server reaches: http and https alone, no redirect is
followed, no proxy is used, the name is resolved once and exactly the checked address is connected to, and little of
the answer is read. Private and loopback addresses need ECM_ALERT_PRIVATE=1; link-local ones, where clouds keep
credentials, are never called.
"""

import http.client
import ipaddress
import json
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from threading import Timer
from urllib.parse import SplitResult, urlsplit

from ecm_site.common.problems import DomainError

#: Seconds for each step, and for all of them.
STEP_SECONDS, TOTAL_SECONDS = 5, 15
LONGEST_URL = 500
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether it was taken (2xx), and in a few words what came back; never the address, which is a secret."""

    is_taken: bool
    said: str


def checked_url(url: str) -> SplitResult:
    """The parts of a web address. Refused: `bad_address`."""
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or 0 < parts.port < 1 << 16
    except ValueError:
        raise DomainError("bad_address", "This is no web address.") from None
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= LONGEST_URL
    if not is_plain or parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine:
        raise DomainError("bad_address", "A webhook's address begins with https:// and holds no spaces.")
    if parts.username is not None or parts.password is not None:
        raise DomainError("bad_address", "Leave name and password out of the address.")
    return parts


def post_json(url: str, body: object, *, may_be_private: bool) -> Answer:
    """POST a JSON body. Never raises for what the other side does."""
    try:
        parts = checked_url(url)
        address = _resolve(parts, may_be_private)
    except DomainError as error:
        return Answer(False, error.message)
    except OSError:
        return Answer(False, "The name is not known.")
    try:
        return _send(parts, address, json.dumps(body).encode())
    except TimeoutError:
        return Answer(False, "No answer in time.")
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Answer(False, f"No connection ({type(error).__name__}).")


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _resolve(parts: SplitResult, may_be_private: bool) -> str:
    found = socket.getaddrinfo(parts.hostname, _port(parts), type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        _check_address(address, may_be_private)
    return addresses[0]


def _check_address(text: str, may_be_private: bool) -> None:
    # A link-local address of version 6 comes with its interface.
    ip = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        # Addresses of version 6 that a router turns into one of version 4.
        inner = ip.ipv4_mapped or ip.sixtofour
        ip = inner or (ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in TRANSLATED else ip)
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        raise DomainError("address_refused", "This address is never called.")
    if not ip.is_global and not may_be_private:
        raise DomainError("address_refused", "A private address; set ECM_ALERT_PRIVATE=1 to allow those.")


def _send(parts: SplitResult, address: str, body: bytes) -> Answer:
    used = socket.create_connection((address, _port(parts)), STEP_SECONDS)
    if parts.scheme == "https":
        context = ssl.create_default_context()
        used = context.wrap_socket(used, server_hostname=parts.hostname, do_handshake_on_connect=False)
    # A peer that drips bytes would stretch each step for ever.
    watch = Timer(TOTAL_SECONDS, _hang_up, (used,))
    watch.daemon = True
    watch.start()
    try:
        with used:
            if isinstance(used, ssl.SSLSocket):
                used.do_handshake()
            connection = http.client.HTTPConnection(parts.hostname or "", _port(parts), timeout=STEP_SECONDS)
            connection.sock = used
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            headers = {"Content-Type": "application/json", "User-Agent": "ecm-server", "Connection": "close"}
            connection.request("POST", path, body, headers | {"Host": parts.netloc})
            status = connection.getresponse().status
    finally:
        watch.cancel()
    if 200 <= status < 300:
        return Answer(True, f"Answered {status}.")
    told = " Redirects are not followed." if 300 <= status < 400 else ""
    return Answer(False, f"Answered {status}.{told}")


def _hang_up(used: socket.socket) -> None:
    with suppress(OSError):
        used.shutdown(socket.SHUT_RDWR)
