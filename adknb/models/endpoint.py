"""Where an API is and how it is entered; nothing of the latter is ever shown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from adknb.core.errors import ModelError

_HIDDEN: Final = "•••"
_KEY_LIKE: Final = re.compile(r"\b(?:sk-|AIza|Bearer |Basic )[\w.*+/=-]{6,}")


class Endpoint:
    """An API's address, its key and the headers that go with each request.

    `url` has no user info; a user and password in the given URL go as a header, as they do in every HTTP client.
    Raises `ModelError` for what is no address or cannot stand in a header, without showing it.
    """

    def __init__(self, url: str, key: str | None, headers: Mapping[str, str]) -> None:
        try:
            parts = urlsplit(url.strip())
            usable = parts.scheme in ("http", "https") and parts.hostname and not parts.query and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise ModelError(
                "the base URL is not an address that requests can be sent to. "
                "Write it with its scheme and without a query: http://localhost:8000/v1"
            )
        self.host: Final = parts.hostname or ""
        self.url: Final = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        self.key: Final = key.strip() if key else None
        self.headers: Final = dict(headers)
        secrets = [self.key, *self.headers.values(), parts.password]
        if parts.username is not None:
            credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            basic = base64.b64encode(credentials.encode()).decode("ascii")
            self.headers["Authorization"] = f"Basic {basic}"
            secrets += [basic, unquote(parts.password or "")]
        for what, value in (("the key", self.key or ""), *((f"the header {name}", headers[name]) for name in headers)):
            if not (value.isascii() and value.isprintable()):
                raise ModelError(f"{what} holds characters that cannot be sent; copy it again")
        self._secrets: Final = sorted({secret for secret in secrets if secret}, key=len, reverse=True)

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost" or self.host.endswith(".localhost")

    def hide(self, text: str) -> str:
        """`text` without the key, a header's value or password, and without what looks like some other key."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return _KEY_LIKE.sub(_HIDDEN, text)

    @property
    def settings(self) -> tuple[object, ...]:
        """All of it, as what tells one client from another."""
        return (self.url, self.key, tuple(self.headers.items()))

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r})"


def first_set(values: Mapping[str, str], names: Iterable[str]) -> str | None:
    """The value of the first of `names` that is set and not blank."""
    return next((values[name] for name in names if values.get(name, "").strip()), None)
