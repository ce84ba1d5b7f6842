"""Providers as operators and we write them: one table each, in layers. Source: agents.md section 4.

What Dovecote ships comes first, then the home's `providers.toml`, then `[providers.NAME]` of the settings.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import raise_any
from orchestrator.contracts.records.providers import (
    AuthMode,
    CredentialSlot,
    EnvPolicy,
    HomePolicy,
    Permissions,
    Price,
    Provider,
    ProviderApi,
    WireFormat,
)
from orchestrator.contracts.toml_text import load_toml
from orchestrator.core.agents.forms import all_faults, server_records, shown
from orchestrator.core.agents.provider_form import CALLS, KEY_HEADERS, ProviderForm, api_call

_MERGED: Final = ("environment", "files", "modes", "mcp_servers")
"""Fields of a later layer that add to those of an earlier one, name by name."""
_MAX_PARENTS: Final = 8
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLayer:
    """The tables of one source. where: its name, for errors. is_operators: not what Dovecote ships."""

    where: str
    tables: Mapping[str, object]
    is_operators: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """All providers. troubles: those that can't be used as they are written, and why."""

    known: Mapping[str, Provider]
    troubles: Mapping[str, InvalidSettings]

    def named(self, name: str) -> Provider:
        """That provider. Raises InvalidSettings naming what is wrong with it, or all that there are."""
        if name in self.troubles:
            raise self.troubles[name]
        if name not in self.known:
            names = sorted({*self.known, *self.troubles})
            near = difflib.get_close_matches(name, names, n=1)
            meant = f"Did you mean {near[0]}? Else use" if near else "Use"
            suggestion = f"{meant} one of: {', '.join(names)}."
            raise InvalidSettings(f"There is no provider {shown(name)}.", suggestion=suggestion)
        return self.known[name]


def parse_provider_file(text: str, *, where: str, is_operators: bool = True) -> ProviderLayer:
    """The layer that a `providers.toml` is. Raises InvalidSettings for what is no TOML."""
    try:
        tables = load_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(
            f"{where} is not TOML: {str(error)[:200]}.", suggestion="Mend that line."
        ) from None
    return ProviderLayer(where=where, tables=tables, is_operators=is_operators)


def merge_providers(layers: Sequence[ProviderLayer]) -> Providers:
    """All providers of the layers, each checked by itself: one that is broken spoils no other."""
    known: dict[str, Provider] = {}
    troubles: dict[str, InvalidSettings] = {}
    for name in dict.fromkeys(name for layer in layers for name in layer.tables):
        try:
            known[name] = _provider(name, layers)
        except InvalidSettings as error:
            troubles[name] = error
    return Providers(known=known, troubles=troubles)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Merged:
    """A provider's fields of all layers. where: the last one that says something of it."""

    fields: Mapping[str, Any]
    where: str
    is_base_operators: bool

    def refusal(self, name: str, what: str, mend: str) -> InvalidSettings:
        return InvalidSettings(f"{self.where}: the provider {name} {what}.", suggestion=mend)


def _provider(name: str, layers: Sequence[ProviderLayer]) -> Provider:
    merged = _merged(name, layers, parents=())
    if not _NAME.fullmatch(name):
        raise merged.refusal(name[:80], "has no good name", "Use a-z, 0-9, - and _, at most 64.")
    fields = {key: value for key, value in merged.fields.items() if key != "extends"}
    try:
        form = ProviderForm.model_validate(fields)
    except ValidationError as error:
        faults = all_faults(error, ProviderForm)
        raise_any(
            [
                merged.refusal(name, f"has the field {fault.field}, which {fault.what}", fault.mend)
                for fault in faults
            ]
        )
        raise
    _check(name, form, merged)
    return _record(name, form, is_base_operators=merged.is_base_operators)


def _merged(name: str, layers: Sequence[ProviderLayer], *, parents: Sequence[str]) -> _Merged:
    given = [(layer, layer.tables[name]) for layer in layers if name in layer.tables]
    where = given[-1][0].where
    fields: dict[str, Any] = {}
    is_base_operators = False
    for layer, table in given:
        if not isinstance(table, Mapping):
            mend = f"Write it as a table: [{name[:80]}]."
            raise InvalidSettings(f"{layer.where}: {shown(name)} is {shown(table)}.", suggestion=mend)
        parent = table.get("extends")
        if parent is not None:
            base = _parent(name, parent, layers, where=layer.where, parents=parents)
            fields = dict(base.fields)
            is_base_operators = base.is_base_operators
        fields = _over(fields, table)
        if "base_url" in table:
            is_base_operators = layer.is_operators
    return _Merged(fields=fields, where=where, is_base_operators=is_base_operators)


def _parent(
    name: str, parent: object, layers: Sequence[ProviderLayer], *, where: str, parents: Sequence[str]
) -> _Merged:
    others = sorted({each for layer in layers for each in layer.tables} - {name})
    if parent not in others or parent in parents or len(parents) >= _MAX_PARENTS:
        near = () if parent in others else difflib.get_close_matches(str(parent), others, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise InvalidSettings(
            f"{where}: the provider {name} has the field extends, which is {shown(parent)}.",
            suggestion=f"{meant}It must be another provider: {', '.join(others)}.",
        )
    return _merged(str(parent), layers, parents=(*parents, name))


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `above` over those of `below`."""
    fields = dict(below)
    for key, value in above.items():
        old = fields.get(key)
        both = key in _MERGED and isinstance(old, Mapping) and isinstance(value, Mapping)
        fields[key] = {**old, **value} if both else value  # type: ignore[dict-item]  # a mapping if both are
    if "slots" not in above and above.get("auth_mode") in (AuthMode.NATIVE_CLI, AuthMode.NONE):
        fields["slots"] = []
    return fields


def _check(name: str, form: ProviderForm, merged: _Merged) -> None:
    """What no single field shows. Raises InvalidSettings."""
    mode = AuthMode(form.auth_mode)
    wrong: list[tuple[str, str]] = []
    if mode is AuthMode.BOUND_SECRET and not form.slots:
        wrong.append(("is bound_secret and has no slots", "Add slots, or set auth_mode."))
    if mode is AuthMode.BOUND_SECRET and form.wire is None:
        mend = "Set wire and base_url: its credential is added to calls that Dovecote understands."
        wrong.append(("is bound_secret and has no wire", mend))
    elif form.base_url is not None and form.wire is None:
        wrong.append(("has a base_url and no wire", f"Set wire to one of: {', '.join(WireFormat)}."))
    if mode is not AuthMode.BOUND_SECRET and form.slots:
        wrong.append((f"is {mode} and has slots", "Remove the slots, or set auth_mode = bound_secret."))
    if form.base_url is not None and form.base_url.startswith("http:") and not merged.is_base_operators:
        wrong.append(("has a base_url without TLS", "Use https."))
    raise_any([merged.refusal(name, what, mend) for what, mend in wrong])


def _record(name: str, form: ProviderForm, *, is_base_operators: bool) -> Provider:
    return Provider(
        name=name,
        driver=form.driver,
        command=form.command,
        login=form.login,
        program=form.program,
        model=form.model,
        auth_mode=AuthMode(form.auth_mode),
        env_policy=EnvPolicy(form.env_policy),
        home_policy=HomePolicy(form.home_policy),
        slots=tuple(
            CredentialSlot(
                name=slot.name,
                target_env=slot.target_env,
                secret_ref=slot.secret_ref or f"secret:providers/{name}/{slot.name}",
                is_required=slot.required,
            )
            for slot in form.slots
        ),
        api=_api(form, is_base_operators=is_base_operators),
        environment=dict(form.environment),
        files=dict(form.files),
        modes={Permissions(key): tuple(modes) for key, modes in form.modes.items()},
        mode_option=form.mode_option,
        harness=form.harness,
        offers_files=form.offers_files,
        stop_wait_s=form.stop_wait_s,
        memory_bytes=form.memory_bytes,
        prices=tuple(Price(**price.model_dump()) for price in form.prices),
        mcp_servers=server_records(form.mcp_servers),
    )


def _api(form: ProviderForm, *, is_base_operators: bool) -> ProviderApi | None:
    if form.wire is None or form.base_url is None:
        return None
    wire = WireFormat(form.wire)
    header, scheme = KEY_HEADERS[wire]
    return ProviderApi(
        base=form.base_url,
        wire=wire,
        calls=tuple(api_call(call) for call in (form.calls if form.calls is not None else CALLS[wire])),
        auth_header=form.auth_header or header,
        auth_scheme=scheme if form.auth_scheme is None else form.auth_scheme,
        is_named_by_operator=is_base_operators,
    )
