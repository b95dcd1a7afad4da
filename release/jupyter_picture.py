"""Take docs/pictures/jupyter.png: the widget in a real JupyterLab, in a headless Chromium.

The build cannot take it, because JupyterLab is no dependency of the guide. In an environment with arbora,
JupyterLab, jupyterlab_widgets, selenium and Pillow, and with chromedriver on the path:

    python release/jupyter_picture.py
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "jupyter.png"
CELL = """\
import arbora as ab
from sklearn.datasets import load_iris

iris = load_iris()
tree = ab.cluster(iris.data, random_state=0)
tree.explore(classes={"species": iris.target_names[iris.target]}, features=iris.data,
             feature_names=iris.feature_names, view="icicle")"""

# The widget lives in a shadow root, into which selectors do not reach.
FIND_PICTURE = """
for (const host of document.querySelectorAll(".jp-OutputArea *"))
  if (host.shadowRoot?.querySelector("canvas")) return host.shadowRoot.querySelector("canvas");
"""


def free_port() -> int:
    """A port of the loopback device that nobody listens on."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def start_jupyter(folder: Path, port: int, token: str) -> subprocess.Popen[bytes]:
    """JupyterLab on the loopback device, with its settings in the same folder, so that no one else's apply."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)"}
    nbformat.write(notebook, folder / "iris.ipynb")
    places = {
        "HOME": folder,
        "JUPYTER_CONFIG_DIR": folder / "config",
        "JUPYTER_RUNTIME_DIR": folder / "runtime",
    }
    options = ["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    options += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    options += ["--LabApp.news_url=None"]
    command = [sys.executable, "-m", "jupyterlab", *options]
    environment = os.environ | {name: str(place) for name, place in places.items()}
    with (folder / "jupyter.log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


def wait_for(port: int, seconds: float = 120) -> None:
    """Until something listens there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    raise TimeoutError(f"JupyterLab did not listen within {seconds:.0f} seconds.")


def browser() -> webdriver.Chrome:
    """A headless Chromium, wide enough for the widget's two columns."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--window-size=1400,1000", "--hide-scrollbars"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def take(driver: webdriver.Chrome, address: str) -> Image.Image:
    """Run the notebook, click on a node, and cut out what lies between the two sidebars."""
    driver.get(address)
    patient = WebDriverWait(driver, 120)
    patient.until(lambda page: page.find_elements(By.CSS_SELECTOR, ".jp-Cell .cm-content"))
    patient.until(lambda page: page.find_elements(By.CSS_SELECTOR, ".jp-NotebookPanel-toolbar"))
    time.sleep(5)
    driver.find_element(By.CSS_SELECTOR, ".jp-Cell .cm-content").click()
    webdriver.ActionChains(driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    drawn = patient.until(lambda page: page.execute_script(FIND_PICTURE))
    time.sleep(4)
    webdriver.ActionChains(driver).move_to_element_with_offset(drawn, -40, 90).click().perform()
    time.sleep(2)
    driver.execute_script("document.querySelector('.Toastify')?.remove()")  # an offer of news covers a corner
    panel = driver.find_element(By.CSS_SELECTOR, ".jp-NotebookPanel").rect
    output = driver.find_element(By.CSS_SELECTOR, ".jp-OutputArea").rect
    end = min(output["y"] + output["height"] + 10, panel["y"] + panel["height"])
    image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    return image.crop((panel["x"], panel["y"], panel["x"] + panel["width"], end))


def main() -> None:
    """Start, photograph, end."""
    port, token = free_port(), secrets.token_hex(16)
    with tempfile.TemporaryDirectory() as name:
        served = start_jupyter(Path(name), port, token)
        driver = browser()
        try:
            wait_for(port)
            take(driver, f"http://127.0.0.1:{port}/lab/tree/iris.ipynb?token={token}").save(
                PICTURE, optimize=True
            )
        finally:
            driver.quit()
            served.terminate()
            served.wait(30)


if __name__ == "__main__":
    main()
