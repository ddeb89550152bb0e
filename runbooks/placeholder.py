"""An unknown fact in an outline is shown as `<name>`, whatever the template does with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from jinja2 import StrictUndefined, Undefined, UndefinedError

_Operator = Callable[["Placeholder", object], "Placeholder"]


def _plain(value: object) -> str:
    return str(value).strip("<>")


def _reckoned(sign: str) -> tuple[_Operator, _Operator]:
    """`<healthy - 1>`: to show only `<healthy>` would be off by one."""

    def with_it_first(this: Placeholder, other: object) -> Placeholder:
        return Placeholder(name=f"{_plain(this)} {sign} {_plain(other)}")

    def with_it_last(this: Placeholder, other: object) -> Placeholder:
        return Placeholder(name=f"{_plain(other)} {sign} {_plain(this)}")

    return with_it_first, with_it_last


class Placeholder(Undefined):
    """An unknown fact that shows its name, and the arithmetic done with it."""

    # jinja2 types each of these as "never returns", because its own Undefined classes all raise there.

    @property
    def _label(self) -> str:
        return self._undefined_name or "value"

    def __str__(self) -> str:
        return f"<{self._label}>"

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(name=f"{self._label}.{name}")

    def __getitem__(self, key: object) -> Placeholder:  # type: ignore[override]
        return Placeholder(name=f"{self._label}.{key}")

    def __call__(self, *_args: object, **_kwargs: object) -> Placeholder:  # type: ignore[override]
        return self

    def __iter__(self) -> Iterator[Placeholder]:
        yield self

    def __len__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        return True

    def __round__(self, _digits: int = 0) -> Placeholder:
        return self

    __add__, __radd__ = _reckoned("+")  # type: ignore[assignment]
    __sub__, __rsub__ = _reckoned("-")  # type: ignore[assignment]
    __mul__, __rmul__ = _reckoned("*")  # type: ignore[assignment]
    __truediv__, __rtruediv__ = _reckoned("/")  # type: ignore[assignment]
    __floordiv__, __rfloordiv__ = _reckoned("/")  # type: ignore[assignment]
    __mod__, __rmod__ = _reckoned("%")  # type: ignore[assignment]


def number_of(value: object) -> object:
    """The `length` of a list that may be unknown."""
    return Placeholder(name=f"number of {_plain(value)}") if isinstance(value, Placeholder) else len(value)  # type: ignore[arg-type]


def formatted(text: str, *values: object) -> str:
    """`"%d" | format(x)` where x is only a name."""
    return re.sub(r"%[^%a-zA-Z]*[a-zA-Z]", "%s", text) % values


def is_known(value: object) -> bool:
    """`is known`: false only in an outline. For a finding, a missing fact is an error, as everywhere."""
    if isinstance(value, StrictUndefined):
        raise UndefinedError(f"{value._undefined_name!r} is undefined")
    return not isinstance(value, Undefined)
