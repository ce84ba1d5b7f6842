"""A word of a query or a body that a route does not know is refused by name: who sends it means something."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel

from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.wire.field_names import unknown_field, wrong_field

_MOST_TOLD: Final = 12


async def no_unknown_query(request: Request) -> None:
    """Each word behind the `?` is one that the route takes. Raises InvalidRequest."""
    route = request.scope.get("route")
    known = [each.alias for each in route.dependant.query_params] if isinstance(route, APIRoute) else []
    fault = unknown_field(list(request.query_params), known)
    if fault is not None:
        raise InvalidRequest(f"The query has a wrong word: {fault}.", suggestion=_takes(known))


def from_request(request: Request, faults: Sequence[Mapping[str, Any]]) -> InvalidRequest:
    """What validation found in the first part of a request that is wrong, with what its route takes."""
    first = faults[0]
    part, *place = first["loc"]
    fields = _body_fields(request)
    if part == "body" and not place:
        return InvalidRequest(
            "The body is missing, or no JSON object.", suggestion=_takes(fields), details={"field": "body"}
        )
    details = {"field": ".".join(map(str, place))}
    found = [_fault(each, fields) for each in faults if each["loc"][0] == part]
    told = "; ".join(found[:_MOST_TOLD])
    more = f"; and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
    what = "field" if part == "body" else "word"
    has = f"has a wrong {what}" if len(found) == 1 else f"has {len(found)} wrong {what}s"
    takes = _takes(fields) if part == "body" else None
    return InvalidRequest(f"The {part} {has}: {told}{more}.", suggestion=takes, details=details)


def _fault(found: Mapping[str, Any], fields: Sequence[str]) -> str:
    part, *place = found["loc"]
    known = fields if part == "body" and len(place) == 1 else []
    return wrong_field(place, found["type"], found["msg"], known)


def _body_fields(request: Request) -> list[str]:
    route = request.scope.get("route")
    body = route.body_field if isinstance(route, APIRoute) else None
    model = None if body is None else body.field_info.annotation
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _takes(known: Sequence[str]) -> str:
    return f"It takes: {', '.join(known)}." if known else "It takes none."
