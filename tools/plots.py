"""Plots in the docs, drawn from the steps in `docs/figures/NAME.json`: `python -m tools.plots`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pygal
from pygal.style import Style

from tools.figures import FIGURES, read
from tools.sections import ROOT

IMAGES: Final = ROOT / "docs" / "images"
STYLE: Final = Style(
    background="white",
    plot_background="white",
    font_family="sans-serif",
    colors=("#1b6ca8", "#d1495b", "#5b8c5a"),
)


def frontier(steps: Sequence[Mapping[str, float]]) -> str:
    """Rates and memory against the number of URLs, as SVG."""
    chart = pygal.XY(
        style=STYLE,
        title="The frontier as it grows",
        x_title="URLs, millions",
        y_title="thousands a second; MB",
        width=800,
        height=420,
        dots_size=2,
        legend_at_bottom=True,
        disable_xml_declaration=True,
        js=(),
        range=(0, None),
    )
    million = [step["urls"] / 1e6 for step in steps]
    for title, key, unit in (
        ("checks, thousands a second", "checksPerSecond", 1e3),
        ("admits, thousands a second", "admitsPerSecond", 1e3),
        ("peak memory, MB", "rssMb", 1),
    ):
        chart.add(title, [(at, step[key] / unit) for at, step in zip(million, steps, strict=True)])
    return str(chart.render(is_unicode=True))


PLOTS: Final[Mapping[str, Callable[[Sequence[Mapping[str, Any]]], str]]] = {"frontier": frontier}


def draw() -> list[Path]:
    """All plots for which there are figures."""
    drawn = []
    for name, plot in PLOTS.items():
        source = FIGURES / f"{name}.json"
        if source.is_file():
            _, result = read(source)
            path = IMAGES / f"{name}.svg"
            path.write_text(plot(result["steps"]) + "\n", encoding="utf-8")
            drawn.append(path)
    return drawn


if __name__ == "__main__":
    for path in draw():
        sys.stderr.write(f"{path.relative_to(ROOT)} is drawn\n")
