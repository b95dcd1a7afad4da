"""Colors: forty that differ, scales that are seen on light and dark pages."""

import numpy as np
import pytest

from arbora.view import palette


@pytest.mark.parametrize("colors", [palette.LIGHT, palette.DARK])
def test_forty_clusters_have_forty_colors(colors):
    assert len(set(palette.categorical(40, colors))) == 40
    assert palette.categorical(41, colors)[40] == colors[0]
    assert palette.categorical(2, colors, skip=39) == [colors[39], colors[0]]


def test_every_color_of_the_dark_scale_is_seen_on_the_dark_page():
    def luminance(color):
        rgb = np.array(palette.rgb(color)) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    page = luminance("#12161c")
    contrast = [(luminance(color) + 0.05) / (page + 0.05) for color in palette.continuous(dark=True)]
    assert min(contrast) > 3
    assert contrast == sorted(contrast)


def test_scales_run_from_end_to_end():
    assert palette.continuous(1) == ["#00224e"]
    assert palette.continuous(64)[-1] == "#fee838"
    assert len(palette.for_page()["continuousDark"]) == palette.STEPS
