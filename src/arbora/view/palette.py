"""Colors that stay apart for color-blind readers; the page and the static pictures share them."""

from __future__ import annotations

from typing import Any

# Six of Okabe and Ito's, then what stays furthest from those before for normal, protan and deutan vision.
LIGHT = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
    "#4a22c8", "#7d2305", "#7a0050", "#35c46a", "#6b7280",
)  # fmt: skip
DARK = (
    "#3d9be0", "#f0b429", "#2bc497", "#e29cc3", "#a97f35", "#c4ee93",
    "#8464f2", "#b0609a", "#f0845c", "#d6e4ff", "#9ca3af",
)  # fmt: skip
NEUTRAL = "#8a94a0"
# Cividis at nine points: even in lightness, the same for readers with and without red-green vision.
_CIVIDIS = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#fee838")
STEPS = 64


def continuous(steps: int = STEPS) -> list[str]:
    """`steps` colors from dark blue to yellow."""
    colors = []
    for k in range(steps):
        at = k / max(steps - 1, 1) * (len(_CIVIDIS) - 1)
        low = min(int(at), len(_CIVIDIS) - 2)
        colors.append(_mixed(_CIVIDIS[low], _CIVIDIS[low + 1], at - low))
    return colors


def categorical(n: int, colors: tuple[str, ...] = LIGHT) -> list[str]:
    """`n` colors: the safe list as it is, beyond it the list again, ever darker or grayer."""
    found = []
    for k in range(n):
        turn = k // len(colors)
        amount = 0.0 if turn == 0 else 0.22 + 0.18 * ((turn - 1) % 3)
        found.append(_mixed(colors[k % len(colors)], "#000000" if turn % 2 else "#8f8f8f", amount))
    return found


def for_page() -> dict[str, Any]:
    """The lists the page receives."""
    return {"light": list(LIGHT), "dark": list(DARK), "continuous": continuous()}


def rgb(color: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _mixed(a: str, b: str, t: float) -> str:
    return "#" + "".join(f"{round(p + (q - p) * t):02x}" for p, q in zip(rgb(a), rgb(b), strict=True))
