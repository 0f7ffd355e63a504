"""Who may come in: pages with the token of this start, from this address."""

import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

LOCAL = ("127.0.0.1", "localhost", "[::1]")


class AccessGuard:
    """Knows the token, the port, and which hosts and origins are this studio's own."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.port = port

    def right_host(self, headers: Mapping[str, str]) -> bool:
        """No other name may point here (a page elsewhere could make one do so)."""
        return headers.get("host", "") in {f"{host}:{self.port}" for host in LOCAL}

    def same_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether the request comes from a page of this studio."""
        parts = urlsplit(headers.get("origin", ""))
        return parts.scheme == "http" and parts.netloc in {f"{host}:{self.port}" for host in LOCAL}

    def knows(self, request: HTTPConnection) -> bool:
        """Whether the request has the token and asks for this host."""
        given = request.query_params.get("token", "")
        right = secrets.compare_digest(given.encode(), self.token.encode())
        return right and self.right_host(request.headers)
