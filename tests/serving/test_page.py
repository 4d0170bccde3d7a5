"""The page in a real browser: what a person does with it, and what it must not do."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mt.serving.api import Settings
from mt.serving.models import ServedModel
from mt.serving.page import FILES
from tests.conftest import ROOT, SENTENCES
from tests.serving.conftest import Client, served
from tests.serving.test_server import gated

CAT, DOG = "the cat sleeps today.", "the dog eats here."
AXE = Path(os.environ.get("MT_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1200,900", "--disable-dev-shm-usage",
)  # fmt: skip


def test_the_files_come_with_a_strict_policy_and_name_nothing_else(client: Client) -> None:
    for path, (_, kind) in FILES.items():
        said = client.get(path)
        assert said.status == 200
        assert said.headers["content-type"] == f"{kind}; charset=utf-8"
        policy = said.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert said.headers["x-content-type-options"] == "nosniff"
        text = said.body.decode()
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
        assert client.get(path, If_None_Match=said.headers["etag"]).status == 304
    page = client.get("/").body.decode()
    assert "<style" not in page
    assert " style=" not in page
    assert not re.search(r"\son\w+=", page)
    assert not re.search(r"<script(?! src=)", page)


class Page:
    """The page in a browser, through Selenium."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, client: Client) -> None:
        self.host = urlsplit(client.url).netloc
        self.driver.get(client.url)
        self.until(lambda: self.js("return document.getElementById('pair')?.options.length"))

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)  # type: ignore[no-any-return]

    def until(self, condition: Callable[[], object]) -> Any:
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 30, 0.02).until(lambda _: condition())

    def write(self, text: str) -> None:
        self.find("#source").send_keys(text)

    @property
    def translation(self) -> str:
        return str(self.js("return document.getElementById('translation').textContent"))

    def translates(self, text: str, expected: str) -> None:
        self.js(
            "const source = document.getElementById('source'); source.value = arguments[0];"
            "source.dispatchEvent(new Event('input'))",
            text,
        )
        self.until(lambda: self.translation == expected)

    def texts(self, selector: str) -> list[str]:
        """Of all that match, at one moment: elements come and go."""
        script = "return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)"
        return list(self.js(script, selector))

    def lit(self, where: str) -> list[str]:
        return self.texts(f"{where} .lit")

    def point(self, element: Any) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).move_to_element(element).perform()

    def problems(self) -> list[str]:
        """Console messages, and requests to other hosts, since the last time."""
        found = [entry["message"] for entry in self.driver.get_log("browser")]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = urlsplit(message["params"]["request"]["url"])
                if url.scheme in ("http", "https", "ws", "wss") and url.netloc != self.host:
                    found.append(url.geturl())
        return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver (Debian: chromium-driver) are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


@pytest.fixture
def page(browser: Any, client: Client) -> Iterator[Page]:
    opened = Page(browser)
    browser.set_window_size(1200, 900)
    opened.open(client)
    opened.js("localStorage.clear()")
    yield opened
    assert opened.problems() == []


def test_what_is_typed_is_translated_as_it_is_typed(page: Page) -> None:
    assert page.js("return document.activeElement.id") == "source"
    assert page.find("#target-name").text == "Italian"
    page.write(CAT)
    page.until(lambda: page.translation == SENTENCES[CAT])
    page.write("\n" + DOG)
    page.until(lambda: page.translation == f"{SENTENCES[CAT]}\n{SENTENCES[DOG]}")
    page.find("#clear").click()
    assert page.translation == ""
    assert page.find("#source").get_attribute("value") == ""


def test_a_word_shows_where_it_comes_from_and_where_it_went(page: Page) -> None:
    page.translates(f"{CAT}\n{DOG}", f"{SENTENCES[CAT]}\n{SENTENCES[DOG]}")
    words = page.all("#translation .word")
    page.point(words[5])
    assert page.lit("#translation") == ["cane"]
    assert page.lit("#under") == ["dog"]
    page.point(page.all("#under .word")[1])  # under the text, which one types into
    assert page.lit("#under") == ["cat"]
    assert page.lit("#translation") == ["gatto"]
    page.point(page.find("h1"))
    assert page.lit("body") == []


def test_the_words_stand_exactly_under_those_that_are_typed(page: Page) -> None:
    page.translates(f"{CAT}\n" * 30, f"{SENTENCES[CAT]}\n" * 30)
    sizes = page.js(
        "return ['source', 'under'].map(id => document.getElementById(id)).map("
        "one => [one.clientWidth, one.clientHeight, one.scrollHeight])"
    )
    assert sizes[0] == sizes[1]
    assert sizes[0][1] == sizes[0][2]  # it grows, and nothing in it scrolls


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    from selenium.webdriver import ActionChains, Keys

    page.translates(CAT, SENTENCES[CAT])
    page.find("#translation").click()
    keys = ActionChains(page.driver)
    keys.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT).perform()
    assert page.lit("#under") == ["cat"]
    assert page.find("#said").get_attribute("textContent") == "gatto: from cat"
    keys.send_keys(Keys.END).perform()
    assert page.find("#said").get_attribute("textContent").startswith("oggi.: from ")
    reached = []
    page.js("document.getElementById('source').focus()")
    for _ in range(12):
        keys.send_keys(Keys.TAB).perform()
        reached.append(page.js("const a = document.activeElement; return a.id || a.tagName"))
    assert {"copy", "translation", "SUMMARY", "BUTTON", "theme"} <= set(reached)


def test_another_translation_can_be_taken(page: Page) -> None:
    page.translates(f"{CAT}\n{DOG}", f"{SENTENCES[CAT]}\n{SENTENCES[DOG]}")
    page.all("#translation .sentence")[1].click()
    assert page.find("#others .of").text == DOG
    buttons = page.all("#others button")
    assert [one.get_attribute("aria-pressed") for one in buttons] == ["true"] + ["false"] * 3
    assert buttons[0].text == SENTENCES[DOG]
    other = buttons[2].text
    buttons[2].click()
    assert page.translation == f"{SENTENCES[CAT]}\n{other}"
    assert page.all("#others button")[2].get_attribute("aria-pressed") == "true"


def test_the_whole_map_is_drawn(page: Page) -> None:
    page.translates(CAT, SENTENCES[CAT])
    page.find("summary").click()
    page.until(lambda: len(page.all("tbody tr")) == 6)
    assert page.texts("thead th") == [
        "[SOS]", *["the", "cat", "sleeps", "today", "."], "[EOS]",
    ]  # fmt: skip
    weights = list(map(float, page.texts("tbody td")))
    assert sum(weights) == pytest.approx(6, abs=0.1)
    seen = page.js(
        "return [...document.querySelectorAll('tbody td')].map("
        "td => Number(getComputedStyle(td).backgroundColor.match(/[\\d.]+(?=\\))/)[0]))"
    )
    darkest = max(range(42), key=lambda i: weights[i])
    assert seen[darkest] == max(seen)
    page.js("const s = document.getElementById('head'); s.value = 2;"
            "s.dispatchEvent(new Event('change'))")  # fmt: skip
    page.until(lambda: page.texts("tbody td") not in ([], [f"{weight:.2f}" for weight in weights]))
    page.point(page.all("tbody td")[0])
    assert page.find("#cell").text.startswith("il looked at [SOS]: 0.")
    page.find("#clear").click()
    assert not page.find("#attention").is_displayed()


def test_words_that_the_model_does_not_know_are_marked(page: Page) -> None:
    page.translates("yes.", "sì.")
    assert not page.find("#unknown").is_displayed()
    page.write(" zyx")
    page.until(lambda: page.texts("#under .strange") == ["zyx"])
    assert page.find("#unknown").is_displayed()


def test_text_that_looks_like_markup_stays_text(page: Page) -> None:
    page.write("<img src=x onerror=alert(1)> <b>yes.</b>")
    page.until(lambda: page.all("#translation .word"))
    assert page.all("#translation img, #under img, #translation b") == []


def test_light_and_dark_follow_the_system_and_the_switch(page: Page) -> None:
    def colour() -> str:
        return str(page.js("return getComputedStyle(document.body).backgroundColor"))

    def system(scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    system("light")
    light = colour()
    system("dark")
    page.until(lambda: colour() != light)
    dark = colour()
    page.find("#theme").click()  # light, whatever the system says
    assert (page.find("#theme").text, colour()) == ("Theme: light", light)
    page.driver.refresh()
    page.until(lambda: page.find("#theme").text == "Theme: light")
    assert colour() == light
    system("light")
    page.find("#theme").click()
    assert (page.find("#theme").text, colour()) == ("Theme: dark", dark)
    page.find("#theme").click()
    assert (page.find("#theme").text, colour()) == ("Theme: system", light)


def test_it_fits_a_phone(page: Page) -> None:
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 375, "height": 720, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        page.translates(f"{CAT}\n{DOG}", f"{SENTENCES[CAT]}\n{SENTENCES[DOG]}")
        page.find("summary").click()
        page.until(lambda: page.all("tbody tr"))
        widths = page.js("return [innerWidth, document.documentElement.scrollWidth]")
        assert widths == [375, 375]
        source, target = page.find("#source").rect, page.find("#translation").rect
        assert target["y"] >= source["y"] + source["height"]
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_copy_copies(page: Page) -> None:
    page.driver.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    page.translates(CAT, SENTENCES[CAT])
    page.find("#copy").click()
    page.until(lambda: page.find("#copy").text == "Copied")
    text = page.driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[0], error => arguments[0](String(error)))"
    )
    assert text == SENTENCES[CAT]


def test_an_answer_to_what_was_typed_before_is_dropped(browser: Any, toy: ServedModel) -> None:
    model, gate = gated(toy)
    page = Page(browser)
    with served([model]) as client:
        page.open(client)
        page.write(CAT)
        assert gate.begun.wait(20)
        page.translates("", "")
        page.write(DOG)
        threading.Timer(0.5, gate.may.set).start()
        seen = set()
        while (now := page.translation) != SENTENCES[DOG]:
            seen.add(now)
        assert seen == {""}
    assert page.problems() == []


def test_of_several_models_the_chosen_one_translates(browser: Any, toy: ServedModel) -> None:
    swapped = toy.translator.with_search(toy.translator.search)
    swapped.src, swapped.tgt = swapped.tgt, swapped.src
    page = Page(browser)
    with served([toy, ServedModel("back", "torch", swapped)]) as client:
        page.open(client)
        assert page.texts("#pair option") == ["English → Italian", "Italian → English"]
        page.write(CAT)
        page.until(lambda: page.translation == SENTENCES[CAT])
        page.js("document.getElementById('pair').focus()")
        page.find("#pair").send_keys("I")  # a select goes to the option that begins so
        back = client.translate(CAT, source="it", target="en").json["translatedText"]
        assert back != SENTENCES[CAT]
        page.until(lambda: page.translation == back)
        assert [page.find(f"#{side}-name").text for side in ("source", "target")] == [
            "Italian", "English"
        ]  # fmt: skip
        assert page.js("return document.getElementById('translation').lang") == "en"
    assert page.problems() == []


def test_errors_are_told_and_a_key_is_asked_for(browser: Any, toy: ServedModel) -> None:
    page = Page(browser)
    with served([toy], Settings(keys=("secret",))) as client:
        page.open(client)
        page.write(CAT)
        page.until(lambda: page.find("#trouble").text)
        assert "Please contact" in page.find("#trouble").text
        page.find("#key").send_keys("secret\t")
        page.until(lambda: page.translation == SENTENCES[CAT])
        assert page.find("#trouble").text == ""
    page.write(" ")
    page.until(lambda: page.find("#trouble").text == "The server does not answer.")
    assert all("403" in one or "ERR_CONNECTION" in one for one in page.problems())


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there: npm install axe-core")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page: Page, theme: str) -> None:
    page.js("document.documentElement.dataset.theme = arguments[0]", theme)
    text = f"zyx {CAT}\n{DOG}"
    page.translates(text, translated(page, text))
    page.find("summary").click()
    page.until(lambda: page.all("tbody tr"))
    page.js(AXE.read_text("utf-8"))
    found = page.driver.execute_async_script("axe.run().then(arguments[0])")
    assert len(found["passes"]) > 20
    assert [
        (one["id"], one["impact"], one["nodes"][0]["html"]) for one in found["violations"]
    ] == []


def translated(page: Page, text: str) -> str:
    """What the server makes of a text."""
    client = Client(f"http://{page.host}/")
    said = client.post("/mt/translate", q=text, source="en", target="it").json
    return str(said["translatedText"])
