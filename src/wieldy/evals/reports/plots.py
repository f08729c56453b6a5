"""Rates of slices as an SVG picture: a line for each group, a dot with its interval for each slice.

Written by hand because a picture of lines and dots needs no library. Colours are those of Okabe and Ito, which the
colour-blind tell apart; every line has a sign of its own as well. Whatever names hold, they are text. Deliberately not
here: the numbers (`changes`), and plots within the page (`page`), which are drawn in the browser.
Source: M. Okabe and K. Ito, Color universal design (2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final, NamedTuple, cast

from wieldy.core.json import JsonObject

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#777777")
_SIGNS: Final = ("●", "■", "▲", "◆", "▼", "○", "□")
_WIDTH: Final = 760
_LEFT: Final = 56
_TOP: Final = 24
_HEIGHT: Final = 320
_LINE: Final = 18


class _Scale(NamedTuple):
    """Where a slice and a rate are."""

    values: tuple[str, ...]

    def x(self, value: str) -> float:
        step = (_WIDTH - _LEFT - 24) / max(1, len(self.values))
        return _LEFT + step * (self.values.index(value) + 0.5)

    @staticmethod
    def y(rate: float) -> float:
        return _TOP + _HEIGHT * (1.0 - rate)


BEGINNING: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12" role="img" '
    'aria-label="Rates of passed trials with 95 % intervals"'
)
"""Of every such picture."""


def rates_svg(rows: Sequence[JsonObject]) -> str:
    """The picture of the rows `slice`; slices in the order of their time."""
    slices = sorted(
        (cast("dict[str, Any]", row) for row in rows if row["type"] == "slice"), key=lambda row: row["time"]
    )
    groups = dict[str, list[dict[str, Any]]]()
    for row in slices:
        name = ", ".join(part for part in (row["suite"], row["category"], row["configuration"]) if part)
        groups.setdefault(name, []).append(row)
    scale = _Scale(tuple(dict.fromkeys(str(row["value"]) for row in slices)))
    height = _TOP + _HEIGHT + 40 + _LINE * len(groups) + 12
    parts = [
        f'{BEGINNING} viewBox="0 0 {_WIDTH} {height}">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        *_axes(scale),
    ]
    for place, (name, own) in enumerate(groups.items()):
        parts += _series(own, scale, place, len(groups))
        parts.append(_legend(name, place))
    return "\n".join([*parts, "</svg>", ""])


def _axes(scale: _Scale) -> Iterator[str]:
    for percent in (0, 25, 50, 75, 100):
        y = scale.y(percent / 100)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - 16}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#333333">{percent}%</text>'
    every = -(-len(scale.values) // 8) or 1  # more names than eight would stand on one another
    for value in scale.values[::every]:
        name = value if len(value) <= 14 else f"{value[:13]}…"
        yield (
            f'<text x="{scale.x(value):.1f}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle" fill="#333333">'
            f"{_text(name)}<title>{_text(value)}</title></text>"
        )


def _series(rows: Sequence[Mapping[str, Any]], scale: _Scale, place: int, groups: int) -> Iterator[str]:
    colour, sign = _COLOURS[place % len(_COLOURS)], _SIGNS[place % len(_SIGNS)]
    aside = 4.0 * (place - (groups - 1) / 2) if groups <= 8 else 0.0  # so that intervals do not cover one another
    points = [(scale.x(row["value"]) + aside, row) for row in rows if row["rate"] is not None]
    if len(points) > 1:
        path = " ".join(f"{x:.1f},{scale.y(row['rate']):.1f}" for x, row in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    for x, row in points:
        if row["interval_95"] is not None:
            low, high = (scale.y(rate) for rate in row["interval_95"])
            yield f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{colour}"/>'
        told = f"{row['value']}: {row['passed']}/{row['scored']} = {row['rate']:.1%}"
        yield (
            f'<text x="{x:.1f}" y="{scale.y(row["rate"]) + 4:.1f}" text-anchor="middle" fill="{colour}">{sign}'
            f"<title>{_text(told)}</title></text>"
        )


def _legend(name: str, place: int) -> str:
    colour, sign = _COLOURS[place % len(_COLOURS)], _SIGNS[place % len(_SIGNS)]
    y = _TOP + _HEIGHT + 44 + _LINE * place
    return f'<text x="{_LEFT}" y="{y}" fill="{colour}">{sign} <tspan fill="#333333">{_text(name)}</tspan></text>'


def _text(words: str) -> str:
    """As the text of an element: characters that XML has no place for are left out."""
    return escape("".join(each for each in words if each.isprintable()))
