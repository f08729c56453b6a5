"""A request as a command line of curl, for people who want to see or to try it.

Pure. Secrets are never in it: where one belongs stands the name of its security scheme.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from wieldy.connect.rest.requests import Request
from wieldy.connect.rest.security import Scheme


def curl_command(request: Request, schemes: Sequence[Scheme] = ()) -> str:
    """The command, for a POSIX shell.

    Args:
        request: What is sent.
        schemes: The security schemes that are answered.
    """
    url, cookies = request.url, list(request.cookies)
    headers = [f"{name}: {value}" for name, value in request.headers]
    for scheme in schemes:
        secret = f"<{scheme.name}>"
        match scheme.way:
            case "query":
                url += f"{'&' if '?' in url else '?'}{scheme.parameter}={secret}"
            case "cookie":
                cookies.append(f"{scheme.parameter}={secret}")
            case "basic":
                headers.append(f"Authorization: Basic {secret}")
            case "header" | "bearer":
                headers.append(f"{scheme.parameter}: {scheme.prefix}{secret}")
    if cookies:
        headers.append(f"Cookie: {'; '.join(cookies)}")
    words = ["curl", *(["-X", request.method] if request.method != "GET" else []), url]
    words += [word for header in headers for word in ("-H", header)]
    if request.content is not None:
        words += ["--data-binary", request.content.decode("utf-8", "replace")]
    return " ".join(map(shlex.quote, words))
