"""Makes the pictures of the README: the page of `mt serve`, and TensorBoard, in a real browser.

    python scripts/take_pictures.py --model phrasebook [--runs runs] [--sentence "…"]

Needs Chromium and chromedriver (Debian: chromium, chromium-driver) and `pip install -e ".[dev]"`.
Both servers run on the loopback address, for as long as it takes; pictures go to docs/pictures.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
SIZE = (1200, 800)
COLOURS = 128  # of a picture: a page has few, and the file is a third of the size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="a model, as of `mt translate`")
    parser.add_argument("--runs", default="runs", help="the folder that TensorBoard shows")
    parser.add_argument("--sentence", default="Yesterday my sister bought a red dress.")
    arguments = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    with browser() as driver:
        serve = [sys.executable, "-m", "mt", "serve", "--model", arguments.model, "--port"]
        with server(serve, "/health") as url:
            driver.get(url)
            translate(driver, arguments.sentence)
            take(driver, "page.png")
        board = [sys.executable, "-m", "tensorboard.main", "--logdir", arguments.runs, "--port"]
        with server(board, "/data/environment") as url:
            driver.get(f"{url}/#custom_scalars")
            time.sleep(12)  # it draws charts one by one, and says nowhere that it is done
            take(driver, "tensorboard.png")


@contextmanager
def browser() -> Iterator[Any]:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.set_window_size(*SIZE)
        yield driver
    finally:
        driver.quit()


@contextmanager
def server(command: list[str], health: str) -> Iterator[str]:
    """Its address, once it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen([*command, str(port)], stderr=subprocess.DEVNULL)
    try:
        wait(lambda: urllib.request.urlopen(url + health, timeout=5).status == 200, process)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def wait(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        if process.poll() is not None:
            raise SystemExit(f"{process.args!r} ended: {process.returncode}")
        try:
            if ready():
                return
        except OSError:
            pass
        time.sleep(0.25)
    raise SystemExit("the server does not answer")


def translate(driver: Any, sentence: str) -> None:
    """Types it, waits for the answer, and points at its second word."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.support.ui import WebDriverWait

    driver.find_element("css selector", "#source").send_keys(sentence)
    WebDriverWait(driver, 60).until(
        lambda _: len(driver.find_elements("css selector", "#translation .word")) > 2
    )
    time.sleep(2)  # alternatives and attention come after it
    words = driver.find_elements("css selector", "#translation .word")
    ActionChains(driver).move_to_element(words[1]).perform()
    time.sleep(1)


def take(driver: Any, name: str) -> None:
    path = PICTURES / name
    driver.save_screenshot(str(path))
    picture = Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)
    print(f"{path}: {picture.width} x {picture.height}, {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
