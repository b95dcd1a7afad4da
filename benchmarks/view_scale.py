"""How large a tree the explorer takes: layouts, page sizes, first picture, frames a second.

    python benchmarks/view_scale.py [--quick]

Times are CPU seconds (and the clock beside them), because other work may share the machine. A frame's cost is the
CPU time of the browser's busiest process; frames a second follow from it. Without Chromium only the Python side runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from _record import record
from view.browser import CHROMEDRIVER, CHROMIUM, chromium, explorer, open_page
from view.large_trees import line_tree

from arbora.view import explore, to_html
from arbora.view.layout import Layout

VIEWS = ("circular", "dendrogram", "icicle", "treemap", "disk")
FLIGHT = """
const done = arguments[arguments.length - 1], stage = document.getElementById('arbora').explorer.stage;
let frames = 0; const began = performance.now();
function step() {
  frames++;
  const x = stage.width * 0.42, y = stage.height * 0.45;
  if (frames % 2) stage.view.zoom(x, y, frames % 60 < 30 ? 1.07 : 1 / 1.07);
  else stage.view.pan(4, frames % 40 < 20 ? 3 : -3, x, y);
  stage.touch();
  if (performance.now() - began < 3000) requestAnimationFrame(step);
  else done([frames, (performance.now() - began) / 1000, stage.frame.length]);
}
requestAnimationFrame(step);
"""


def layout_seconds(n):
    """CPU seconds of every layout of a tree with n leaves (its own arrays already there)."""
    tree = line_tree(n)
    _ = tree.leaf_order, tree.sizes, tree.depths
    layout = Layout(tree)
    began = time.process_time()
    _ = (
        layout.center,
        layout.along("height"),
        layout.rectangles,
        layout.disk,
        layout.split_rank,
        layout.deepest,
    )
    return time.process_time() - began


def page_size(n):
    """Megabytes of a page with n named, labeled, placed leaves; and the seconds to write it."""
    tree = line_tree(n)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        path = to_html(
            tree, Path(folder) / "t.html", names=[f"leaf number {k}" for k in range(n)],
            classes=np.arange(n) * 12 // n, points=rng.normal(size=(n, 2)),
        )  # fmt: skip
        return path.stat().st_size / 1e6, time.process_time() - began


def browser_cpu(driver):
    """CPU seconds so far of each browser process."""
    import psutil

    root = psutil.Process(driver.service.process.pid)
    return {process.pid: sum(process.cpu_times()[:2]) for process in root.children(recursive=True)}


def in_browser(n):
    """First picture and frames a second of a tree with n leaves, served locally."""
    tree = line_tree(n)
    began = time.process_time()
    with explore(tree, open_browser=False, classes=np.arange(n) * 12 // n) as viewer, chromium() as driver:
        found = {"server CPU s": time.process_time() - began}
        open_page(driver, viewer.url)
        found["first picture s (clock)"] = explorer(driver, "e.firstPaint / 1000")
        found["browser CPU s"] = max(browser_cpu(driver).values())
        found["frames/s"] = {}
        for view in VIEWS:
            explorer(driver, f"await e.showView('{view}', false)")
            driver.execute_async_script(FLIGHT)
            before = browser_cpu(driver)
            frames, seconds, drawn = driver.execute_async_script(FLIGHT)
            after = browser_cpu(driver)
            worked = max(after[pid] - before.get(pid, 0) for pid in after)
            found["frames/s"][view] = {
                "clock": round(frames / seconds, 1),
                "by CPU": round(frames / min(seconds, max(worked, 1e-3)), 1),
                "nodes drawn": drawn,
            }
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller trees")
    quick = parser.parse_args().quick
    layout_seconds(1000)  # compiles
    sizes = [10_000, 100_000] if quick else [10_000, 100_000, 1_000_000]
    results = {"layout CPU s": {n: round(layout_seconds(n), 4) for n in sizes}}
    times = list(results["layout CPU s"].values())
    growth = np.log(max(times[-1], 1e-6) / max(times[0], 1e-6)) / np.log(sizes[-1] / sizes[0])
    print(f"layouts (CPU s): {results['layout CPU s']}, growth n^{growth:.2f}")
    results["page MB, CPU s"] = {n: page_size(n) for n in ([5_000] if quick else [5_000, 50_000])}
    print("page (MB, CPU s):", results["page MB, CPU s"])
    if CHROMIUM and CHROMEDRIVER:
        n = 100_000 if quick else 1_000_000
        results["browser"] = {n: in_browser(n)}
        print(f"{n:,} leaves in Chromium:", json.dumps(results["browser"][n], indent=2))
    record("view_scale", results, quick=quick)


if __name__ == "__main__":
    main()
