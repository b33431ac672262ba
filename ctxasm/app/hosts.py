"""Under which names a server may be asked. A web page can point a name of its own at this machine, but cannot ask under another."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from ctxasm.model.errors import InvalidInput, shown

HOST_NAMES = "CTXASM_HOST_NAMES"
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::([0-9]{0,5}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names of this machine for itself (localhost, 127.0.0.1 and all of 127/8, [::1]), and those that the server was given."""

    named: frozenset[str] = frozenset()

    def allow(self, host: str) -> bool:
        """Whether the value of a Host header, with or without a port, is one of them."""
        name = _bare(host)
        return name is not None and (name == "localhost" or name in self.named or _is_loopback(name))

    def allow_origin(self, origin: str, host: str) -> bool:
        """Whether a page of this origin may ask for `host`, the Host header: a page of that host, or of a name that the server was given.

        Another port of this machine is another origin: what is served there is not ours. An opaque origin (`null`) is none.
        """
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        bare = f"{parts.scheme}://{parts.netloc}".lower()
        if parts.scheme not in ("http", "https") or origin.lower() != bare:
            return False
        return self.allow(parts.netloc) and (_bare(parts.netloc) in self.named or _split(parts.netloc) == _split(host))


def read_hosts(environment: Mapping[str, str], more: Iterable[str] = ()) -> Hosts:
    """The hosts of an environment (`CTXASM_HOST_NAMES`, separated by commas) and more. Raises InvalidInput for what is no name."""
    given = [part.strip() for part in environment.get(HOST_NAMES, "").split(",")]
    return Hosts(frozenset(_named(name) for name in (*filter(None, given), *more)))


def _named(given: str) -> str:
    try:
        name = str(ipaddress.ip_address(given.strip("[]")))
    except ValueError:
        try:
            name = given.encode("idna").decode("ascii").lower().removesuffix(".")  # as a browser sends it
        except UnicodeError:
            name = ""
    if _bare(f"[{name}]" if ":" in name else name) != name:
        allowed = "a name or an address alone, such as ctxasm.example.org or 192.168.1.20, without https://, port or *"
        raise InvalidInput(f"a host name (--host-name or {HOST_NAMES}) must be {allowed}, got {shown(given)}")
    return name


def _bare(host: str) -> str | None:
    """The name in a Host header, in lower case, without port and closing dot; None where it is malformed."""
    parts = _split(host)
    return None if parts is None else parts[0]


def _split(host: str) -> tuple[str, str] | None:
    """That name, and the port as written."""
    found = _HOST.fullmatch(host.lower()) if host.isascii() else None
    if found is None or int(found[3] or 0) > 65535:
        return None
    if found[1] is None:
        return found[2], found[3] or ""
    try:
        return str(ipaddress.IPv6Address(found[1])), found[3] or ""
    except ValueError:
        return None


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
