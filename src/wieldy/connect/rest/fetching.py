"""Fetches the documents of a service that lie behind URLs: the one that was named, and those that it refers to.

No secret goes along. Deliberately not here: what may be referred to (`documents`).
"""

from __future__ import annotations

from typing import Final

import anyio
import httpx2

from wieldy.connect.rest.client import NO_SECRETS, ServiceClient, TooLargeError
from wieldy.connect.rest.loading import MAX_DOCUMENT_BYTES, parse_document
from wieldy.connect.rest.requests import Request
from wieldy.connect.rest.service import Service
from wieldy.core.errors import UsageError

_TIMEOUT_S: Final = 60.0
_AT_ONCE: Final = 10
_ACCEPT: Final = ("Accept", "application/json, application/yaml, */*;q=0.5")


async def fetch_documents(service: Service) -> None:
    """Every document that the service's own refers to was fetched, as far as it can be had.

    Raises:
        UsageError: The document itself cannot be had, or is none.
    """
    documents = service.documents
    client = ServiceClient(timeout_s=_TIMEOUT_S, max_bytes=MAX_DOCUMENT_BYTES)
    async with client.hold():
        if not service.is_known:
            await _fetch(documents.root_uri, service, client)
            service.learn()  # says why, if it cannot be had
        if not documents.has_outside_references:
            return
        service.look_into_all()
        while documents.wanted:
            async with anyio.create_task_group() as group:
                for uri in sorted(documents.wanted)[:_AT_ONCE]:
                    group.start_soon(_fetch, uri, service, client)
            service.learn()
            service.look_into_all()


async def _fetch(uri: str, service: Service, client: ServiceClient) -> None:
    documents = service.documents
    try:
        response = await client.send(Request(method="GET", url=uri, headers=(_ACCEPT,)), NO_SECRETS)
        if not response.is_success:
            documents.fail(uri, f"{uri}: the server answered {response.status} instead of a document")
            return
        documents.add(uri, parse_document(response.content, name=uri))
    except (httpx2.RequestError, httpx2.InvalidURL, TimeoutError, TooLargeError) as error:
        documents.fail(uri, f"{uri}: the document cannot be fetched ({type(error).__name__})")
    except UsageError as error:
        documents.fail(uri, str(error))
