"""A real Chromium for the tests, where there is one."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import contextmanager

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--force-device-scale-factor=1",
)  # fmt: skip

needs_browser = pytest.mark.skipif(
    CHROMIUM is None or CHROMEDRIVER is None, reason="needs chromium and chromedriver on the PATH"
)


@contextmanager
def chromium(downloads=None, width=1280, height=800):
    """A headless browser that renders in software."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS, f"--window-size={width},{height}", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        if downloads is not None:
            options.add_experimental_option(
                "prefs",
                {
                    "download.default_directory": str(downloads),
                    "profile.default_content_setting_values.automatic_downloads": 1,
                },
            )
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
        try:
            driver.set_script_timeout(300)
            yield driver
        finally:
            driver.quit()


def wait_for(driver, condition, timeout=120.0):
    """The first true value of a script's expression."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        value = driver.execute_script(f"return ({condition})")
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"never true: {condition}")


def open_page(driver, address):
    """Open an explorer page and wait until it is ready."""
    driver.get(address)
    wait_for(driver, "document.querySelector('.arbora')?.dataset.ready === 'yes'")


def explorer(driver, expression):
    """Value of an expression in which `e` is the page's explorer; promises are awaited."""
    return driver.execute_async_script(
        "const done = arguments[arguments.length - 1]; const e = document.getElementById('arbora').explorer;"
        f"Promise.resolve((async () => ({expression}))()).then(done, (x) => done('failed: ' + x));"
    )


def severe_messages(driver):
    """What the browser's console calls severe: script errors, refused resources."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
