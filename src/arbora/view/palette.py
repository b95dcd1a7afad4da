"""Colors that stay apart for color-blind readers; the page and the static pictures share them."""

from __future__ import annotations

# Ten that stay apart for normal, protan and deutan vision (six of Okabe and Ito's first), then thirty chosen one
# by one, each as far as possible in CIELAB from those before it, from the background and from the neutral gray.
LIGHT = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#4a22c8", "#7d2305", "#7a0050", "#35c46a",
    "#fc00cc", "#fc0060", "#b4d800", "#606000", "#0c3c30", "#a884fc", "#00e400", "#f0a884", "#003090", "#c0cc78",
    "#cc00fc", "#0000fc", "#785448", "#fc0018", "#60d8d8", "#3c3054", "#90189c", "#006c00", "#d80c84", "#d8c0fc",
    "#fc6c60", "#fc78e4", "#008490", "#6c8460", "#a86c24", "#9c9c00", "#0060f0", "#b43c54", "#78549c", "#54a800",
)  # fmt: skip
DARK = (
    "#3d9be0", "#f0b429", "#2bc497", "#e29cc3", "#a97f35", "#c4ee93", "#8464f2", "#b0609a", "#f0845c", "#d6e4ff",
    "#00fc00", "#fc00cc", "#fc0000", "#fc006c", "#189c00", "#9000fc", "#ccf000", "#00e4fc", "#54783c", "#fcd8b4",
    "#00fc90", "#909c00", "#905448", "#f084fc", "#c02424", "#6060b4", "#b4f0d8", "#fc7800", "#9cfc60", "#f06c84",
    "#00786c", "#cc0084", "#a818cc", "#c0a8fc", "#9c3ca8", "#e4cc6c", "#78b4c0", "#a8b478", "#0084fc", "#3c48fc",
)  # fmt: skip
NEUTRAL = "#8a94a0"
# Cividis at nine points: even in lightness, the same for readers with and without red-green vision.
_CIVIDIS = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#fee838")
# The same course from blue to yellow for a dark page, where navy could not be seen.
_CIVIDIS_ON_DARK = ("#4f7fd9", "#6d8ad0", "#8796bf", "#9ca2ac", "#b2af98", "#cabd80", "#e3cd66", "#fff07a")
STEPS = 64


def continuous(steps: int = STEPS, *, dark: bool = False) -> list[str]:
    """`steps` colors from blue to yellow, dark to light."""
    stops = _CIVIDIS_ON_DARK if dark else _CIVIDIS
    colors = []
    for k in range(steps):
        at = k / max(steps - 1, 1) * (len(stops) - 1)
        low = min(int(at), len(stops) - 2)
        colors.append(_mixed(stops[low], stops[low + 1], at - low))
    return colors


def categorical(n: int, colors: tuple[str, ...] = LIGHT, *, skip: int = 0) -> list[str]:
    """`n` colors: forty different ones, then the list from its beginning. The first `skip` are left out."""
    return [colors[(skip + k) % len(colors)] for k in range(n)]


def for_page() -> dict[str, list[str]]:
    """The lists the page receives."""
    return {
        "light": list(LIGHT),
        "dark": list(DARK),
        "continuous": continuous(),
        "continuousDark": continuous(dark=True),
    }


def rgb(color: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _mixed(a: str, b: str, t: float) -> str:
    return "#" + "".join(f"{round(p + (q - p) * t):02x}" for p, q in zip(rgb(a), rgb(b), strict=True))
