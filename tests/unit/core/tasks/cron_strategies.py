"""Draws cron expressions together with what they mean, so that no test has to parse one."""

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.unit.core.tasks.cron_oracle import Expression, Meaning

_MONTHS = ("jan", "Feb", "MAR", "APR", "may", "JUN", "JUL", "AUG", "sep", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "mon", "TUE", "Wed", "THU", "FRI", "SAT")


def expressions() -> st.SearchStrategy[Expression]:
    """Any that a task may have."""
    expression = st.builds(
        Expression,
        minute=_fields(0, 59),
        hour=_fields(0, 23),
        day=_fields(1, 31, special=st.just(Meaning(text="L", has_last_day=True))),
        month=st.one_of(_any(1, 12), _fields(1, 12, names=_MONTHS)),
        weekday=st.one_of(_any(0, 6), _fields(0, 6, names=_WEEKDAYS, special=_weekday_specials())),
    )
    return expression.filter(lambda meant: meant.is_possible)


def fixed_expressions() -> st.SearchStrategy[Expression]:
    """Those with a fixed minute and fixed hours, on many days."""
    return st.builds(
        Expression,
        minute=_lists(_number(0, 59)),
        hour=_lists(_number(0, 23)),
        day=_any(1, 31),
        month=_any(1, 12),
        weekday=st.one_of(_any(0, 6), _fields(0, 6)),
    )


def real_expressions() -> st.SearchStrategy[Expression]:
    """Those with a `*`, a range or a step in the hour, on many days."""
    return st.builds(
        Expression,
        minute=_fields(0, 59),
        hour=st.one_of(_any(0, 23), _stepped(0, 23)),
        day=_any(1, 31),
        month=_any(1, 12),
        weekday=_any(0, 6),
    )


def _any(low: int, high: int) -> st.SearchStrategy[Meaning]:
    return st.just(Meaning(text="*", numbers=frozenset(range(low, high + 1)), is_any=True, is_plain=False))


def _number(low: int, high: int, names: Sequence[str] = ()) -> st.SearchStrategy[Meaning]:
    def meaning(number: int, style: int) -> Meaning:
        return Meaning(text=_spelled(number, low, names, style), numbers=frozenset({number}))

    return st.builds(meaning, st.integers(low, high), st.integers(0, 2))


def _stepped(low: int, high: int, names: Sequence[str] = ()) -> st.SearchStrategy[Meaning]:
    """A range or a step."""

    def meaning(first: int, last: int, step: int, form: str, style: int) -> Meaning:
        everything = range(low, high + 1)
        wrapped = [*range(first, high + 1), *range(low, last + 1)]
        walk = range(first, last + 1) if first <= last else wrapped
        start, end = (_spelled(number, low, names, style) for number in (first, last))
        numbers = {
            "{start}-{end}": walk,
            "{start}-{end}/{step}": walk[::step],
            "{start}/{step}": range(first, high + 1, step),
            "*/{step}": everything[::step],
        }[form]
        return Meaning(
            text=form.format(start=start, end=end, step=step),
            numbers=frozenset(numbers),
            is_any=form.startswith("*") and step == 1,
            is_plain=False,
        )

    bounds, forms = (
        st.integers(low, high),
        ["{start}-{end}", "{start}-{end}/{step}", "{start}/{step}", "*/{step}"],
    )
    steps = st.integers(1, high - low + 1)
    return st.builds(meaning, bounds, bounds, steps, st.sampled_from(forms), st.integers(0, 2))


def _spelled(number: int, low: int, names: Sequence[str], style: int) -> str:
    if style == 0 and names:
        return names[number - low]
    return f"{number:02}" if style == 1 else str(number)


def _weekday_specials() -> st.SearchStrategy[Meaning]:
    sunday = st.sampled_from(
        [
            Meaning(text="7", numbers=frozenset({0})),
            Meaning(text="5-7", numbers=frozenset({5, 6, 0}), is_plain=False),
            Meaning(text="0-7", numbers=frozenset(range(7)), is_plain=False),
        ]
    )
    return st.one_of(sunday, st.builds(_nth, st.integers(0, 7), st.integers(0, 5), st.booleans()))


def _nth(weekday: int, which: int, is_named: bool) -> Meaning:
    name = _WEEKDAYS[weekday % 7] if is_named else str(weekday)
    text = f"{name}#{which}" if which else (f"L{name}" if weekday % 2 else f"{name}L")
    return Meaning(text=text, nth=frozenset({(weekday % 7, which)}))


def _fields(
    low: int,
    high: int,
    *,
    names: Sequence[str] = (),
    special: st.SearchStrategy[Meaning] | None = None,
) -> st.SearchStrategy[Meaning]:
    items = st.one_of(_number(low, high, names), _stepped(low, high, names))
    return st.one_of(_any(low, high), _lists(items if special is None else st.one_of(items, special)))


def _lists(items: st.SearchStrategy[Meaning]) -> st.SearchStrategy[Meaning]:
    return st.lists(items, min_size=1, max_size=3).map(_joined)


def _joined(parts: Sequence[Meaning]) -> Meaning:
    is_any = any(part.is_any for part in parts)
    return Meaning(
        text=",".join(part.text for part in parts),
        numbers=frozenset[int]().union(*(part.numbers for part in parts)),
        nth=frozenset() if is_any else frozenset[tuple[int, int]]().union(*(part.nth for part in parts)),
        has_last_day=any(part.has_last_day for part in parts) and not is_any,
        is_any=is_any,
        is_plain=all(part.is_plain for part in parts),
    )
