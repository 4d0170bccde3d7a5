"""The API as LibreTranslate's clients and others see it, over sockets."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from mt.serving.api import Settings
from mt.serving.models import Models, ServedModel
from mt.serving.openapi import description
from mt.serving.requests import Limits
from tests.conftest import KNOWN, SENTENCES
from tests.serving.conftest import Client, served
from tests.serving.test_server import gated

CAT, DOG = "the cat sleeps today.", "the dog eats here."


def test_a_string_gives_a_string_and_a_list_a_list(client: Client) -> None:
    assert client.translate(CAT).json == {"translatedText": SENTENCES[CAT]}
    two = [SENTENCES[DOG], SENTENCES[CAT]]
    assert client.translate([DOG, CAT]).json == {"translatedText": two}
    assert client.translate([DOG, " ", ""]).json == {"translatedText": [SENTENCES[DOG], " ", ""]}
    lines = f"  Hello, world! Why (not)?\n\n{DOG}\n"
    expected = f"  Ciao, mondo! Perché (no)?\n\n{SENTENCES[DOG]}\n"
    assert client.translate(lines).json == {"translatedText": expected}


def test_a_form_is_as_good_as_json(client: Client) -> None:
    fields = {"source": "en", "target": "it", "alternatives": "1", "format": "text"}
    form = client.form("/translate", q=CAT, **fields).json
    assert form == client.translate(CAT, alternatives=1).json
    assert client.form("/translate", q=[CAT, DOG], source="en", target="it").json == {
        "translatedText": [SENTENCES[CAT], SENTENCES[DOG]]
    }
    said = client.form("/translate", q=f"{CAT}\r\n{DOG}", source="en", target="it")
    assert said.json["translatedText"] == f"{SENTENCES[CAT]}\n{SENTENCES[DOG]}"


def test_alternatives_and_the_detected_language(client: Client) -> None:
    one = client.translate(CAT, source="auto", alternatives=2).json
    assert one["translatedText"] == SENTENCES[CAT]
    assert one["detectedLanguage"] == {"confidence": 100.0, "language": "en"}
    assert len({SENTENCES[CAT], *one["alternatives"]}) == 3
    many = client.translate([CAT, DOG], source="auto", alternatives=2).json
    assert many["detectedLanguage"] == [one["detectedLanguage"]] * 2
    assert many["alternatives"][0] == one["alternatives"]
    assert len(many["alternatives"]) == 2
    assert client.translate(CAT, alternatives=0).json == {"translatedText": SENTENCES[CAT]}


def test_html_keeps_its_tags(client: Client) -> None:
    html = f'<p class="a">{CAT}</p><!-- {CAT} --><script>{CAT}</script>&nbsp;{DOG} <br>'
    said = client.translate(html, format="html", alternatives=2).json
    expected = html.replace(f">{CAT}</p", f">{SENTENCES[CAT]}</p")
    expected = expected.replace(f"&nbsp;{DOG}", SENTENCES[DOG])
    assert said == {"translatedText": expected, "alternatives": []}
    amp = "the cat &amp; the dog sleep."
    assert client.translate(amp, format="html").json["translatedText"] == (
        "il gatto &amp; il cane dormono."
    )


def test_what_is_loaded_is_told(client: Client) -> None:
    assert client.get("/languages").json == [{"code": "en", "name": "English", "targets": ["it"]}]
    settings = client.get("/frontend/settings").json
    assert settings["charLimit"] == 10_000
    assert settings["language"]["target"] == {"code": "it", "name": "Italian"}
    assert (settings["keyRequired"], settings["filesTranslation"]) == (False, False)
    assert client.get("/health").json == {"status": "ok"}
    assert client.post("/detect", q="il gatto dorme").json[0] == {
        "confidence": 100.0,
        "language": "it",
    }
    assert client.post("/detect", q="???").json == [{"confidence": 0.0, "language": "en"}]
    [model] = client.get("/mt/models").json
    assert (model["name"], model["engine"], model["attention"]) == ("toy", "torch", True)
    assert (model["layers"], model["heads"]) == (1, 4)


def test_how_a_translation_came_about(client: Client) -> None:
    said = client.post("/mt/translate", q=f"{CAT}\n", source="auto", target="it", alternatives=2)
    assert said.json["translatedText"] == f"{SENTENCES[CAT]}\n"
    assert said.json["detectedLanguage"]["language"] == "en"
    assert len(said.json["sentences"][0]["alternatives"]) == 3


def test_attention_is_of_the_mean_or_of_a_head(client: Client) -> None:
    def ask(**which: int) -> Any:
        said = client.post("/mt/attention", q=CAT, source="en", target="it", **which)
        assert said.status == 200
        return said.json

    mean, heads = ask(), [ask(layer=1, head=n) for n in (1, 2, 3, 4)]
    assert mean["source"] == ["[SOS]", "the", "cat", "sleeps", "today", ".", "[EOS]"]
    assert mean["target"] == ["il", "gatto", "dorme", "oggi", ".", "[EOS]"]
    for i, row in enumerate(mean["weights"]):
        assert sum(row) == pytest.approx(1, abs=0.01)
        for j, weight in enumerate(row):
            of_heads = sum(head["weights"][i][j] for head in heads) / 4
            assert weight == pytest.approx(of_heads, abs=0.002)
    assert heads[0]["weights"] != heads[1]["weights"]
    long = client.post("/mt/attention", q="the cat " * 20, source="en", target="it")
    assert (long.status, "translated in 2 parts" in long.error) == (422, True)
    blank = client.post("/mt/attention", q=" ", source="en", target="it")
    assert (blank.status, "blank" in blank.error) == (422, True)


BAD_FIELDS = [
    ({"q": None}, "missing q"), ({"q": ""}, "missing q"), ({"q": []}, "missing q"),
    ({"q": 5}, "q parameter must be a string or a list of strings"),
    ({"q": {"a": 1}}, "q parameter must be"), ({"q": ["a", 1]}, "q parameter must be"),
    ({"q": [["a"]]}, "q parameter must be"),
    ({"source": None}, "missing source"), ({"source": 5}, "source parameter must be a string"),
    ({"source": "xx"}, "source xx is not supported"),
    ({"source": "it"}, "source it is not supported"),
    ({"target": ""}, "missing target"), ({"target": ["it"]}, "target parameter must be"),
    ({"target": "../../etc/passwd"}, "target ../../etc/passwd is not supported"),
    ({"target": "x" * 5000}, "x… is not supported"),
    ({"target": "en"}, "English (en) is not available as a target language from English (en)"),
    ({"format": "pdf"}, "pdf format is not supported"), ({"format": 1}, "format parameter must"),
    ({"alternatives": "many"}, "alternatives parameter is not a number"),
    ({"alternatives": 1.5}, "alternatives parameter is not a number"),
    ({"alternatives": True}, "alternatives parameter is not a number"),
    ({"alternatives": [1]}, "alternatives parameter is not a number"),
    ({"alternatives": -1}, "alternatives parameter must be from 0 to 10"),
    ({"alternatives": 11}, "alternatives parameter must be from 0 to 10"),
    ({"alternatives": "9" * 5000}, "alternatives parameter is not a number"),
    ({"q": "a" * 10_001}, "q parameter (10,001 characters) exceeds text limit (10,000)"),
    ({"q": ["a" * 5001] * 2}, "q parameter (10,002 characters) exceeds"),
    ({"q": ["a"] * 501}, "q parameter (501 lines) exceeds line limit (500)"),
    ({"q": "a\n" * 501}, "q parameter (501 lines) exceeds line limit (500)"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "message"), BAD_FIELDS, ids=lambda value: str(value)[:40])
def test_a_wrong_field_is_named(client: Client, fields: dict[str, Any], message: str) -> None:
    said = client.translate(**{"q": CAT, **fields})
    assert said.status == 400
    assert message in said.error
    assert len(said.error) < 200


@pytest.mark.parametrize(
    ("body", "kind", "status", "message"),
    [
        (b"{", "application/json", 400, "the body is not JSON"),
        (b"", "application/json", 400, "the body is not JSON"),
        (b'{"q": "\xff"}', "application/json", 400, "the body is not JSON"),
        (b"[" * 100_000, "application/json", 400, "the body is not JSON"),
        (b'{"a":' * 50_000, "application/json", 400, "the body is not JSON"),
        (b'{"q": ' + b"9" * 5000 + b"}", "application/json", 400, "not JSON"),
        (b"[1]", "application/json", 400, "must be a JSON object"),
        (b"null", "application/json; charset=utf-8", 400, "must be a JSON object"),
        (b"q=%ff", "application/x-www-form-urlencoded", 400, "not a form in UTF-8"),
        (b"\xff=1", "application/x-www-form-urlencoded", 400, "not a form in UTF-8"),
        (b"a&" * 2000, "application/x-www-form-urlencoded", 400, "up to 1000 fields"),
        (b"", "application/x-www-form-urlencoded", 400, "missing q"),
        (b"<a/>", "text/xml", 415, "must be application/json or application/x-www-form"),
        (b"{}", "", 415, "the request names none"),
        (b" " * (1 << 20) + b"{}", "application/json", 413, "over the limit of 1,048,576 bytes"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_wrong_body(client: Client, body: bytes, kind: str, status: int, message: str) -> None:
    said = client.send("/translate", body, kind)
    assert (said.status, message in said.error) == (status, True), said


def test_a_body_that_is_too_large_is_not_read_for_ever(client: Client) -> None:
    def chunks(count: int) -> Any:
        return iter([b"x" * 300_000] * count)

    said = client.ask("POST", "/translate", chunks(9), Content_Type="application/json")
    assert said.status == 413
    with pytest.raises(OSError, match=r"reset|pipe"):  # noqa: PT012
        for _ in range(9):
            client.ask("POST", "/translate", chunks(100), Content_Type="application/json")
    told = {"Content_Type": "application/json", "Content_Length": "99999999999"}
    assert client.ask("POST", "/translate", b"{", **told).status == 413


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/translate", 405), ("POST", "/languages", 405), ("GET", "/nowhere", 404),
        ("GET", "/../../etc/passwd", 404), ("GET", "/%2e%2e/mt/config.py", 404),
        ("GET", "/page/__init__.py", 404), ("GET", "//etc/passwd", 404),
        ("GET", "/index.html", 404),
        ("POST", "/suggest", 403), ("POST", "/translate_file", 403), ("DELETE", "/", 405),
    ],
)  # fmt: skip
def test_other_paths(client: Client, method: str, path: str, status: int) -> None:
    said = client.ask(method, path)
    assert said.status == status
    assert said.error


def test_any_characters_are_answered(client: Client) -> None:
    body = (
        b'{"q": "\\ud800 \\u0000 \\uffff the \\ud83d\\ude00", "source": "en", "target": "\\udfff"}'
    )
    assert "? is not supported" in client.send("/translate", body).error
    assert client.send("/translate", body.replace(b"\\udfff", b"it")).status == 200
    assert client.send("/mt/translate", body.replace(b"\\udfff", b"it")).status == 200


def test_a_key_is_asked_for(toy: ServedModel) -> None:
    with served([toy], Settings(keys=("secret", "chiave-è"))) as client:
        assert "Please contact" in client.translate(CAT).error
        assert client.translate(CAT, api_key="").status == 403
        for wrong in ("guess", 5, ["secret"], "secre", "\ud800"):
            said = client.translate(CAT, api_key=wrong)
            assert (said.status, said.error) == (403, "Invalid API key")
        assert client.translate(CAT, api_key="secret").status == 200
        assert client.translate(CAT, api_key="chiave-è").status == 200
        assert client.form("/detect", q="a", api_key="secret").status == 200
        assert client.post("/mt/translate", q=CAT, source="en", target="it").status == 403
        assert client.get("/metrics").status == 403
        assert client.get("/metrics", Authorization="Bearer secret").status == 200
        assert client.get("/frontend/settings").json["keyRequired"] is True
        assert client.get("/languages").status == client.get("/").status == 200


def test_who_may_ask_from_a_browser(client: Client, toy: ServedModel) -> None:
    asked = {"Origin": "https://example.org", "Access_Control_Request_Method": "POST",
             "Access_Control_Request_Headers": "content-type"}  # fmt: skip
    said = client.ask("OPTIONS", "/translate", **asked)
    assert said.status == 200
    assert said.headers["access-control-allow-origin"] == "*"
    assert "content-type" in said.headers["access-control-allow-headers"].lower()
    assert client.get("/languages", Origin="https://a.b").headers[
        "access-control-allow-origin"
    ] == "*"  # fmt: skip
    with served([toy], Settings(origin=None)) as closed:
        said = closed.get("/languages", Origin="https://a.b")
        assert "access-control-allow-origin" not in said.headers


def test_requests_that_wait_are_decoded_together_and_a_full_queue_says_so(
    toy: ServedModel,
) -> None:
    model, gate = gated(toy)
    answers = []
    with served([model], Settings(queue=8)) as client:

        def ask(sentence: str) -> None:
            answers.append((SENTENCES[sentence], client.translate(sentence).json))

        def number(name: str) -> float:
            lines = client.get("/metrics").body.decode().splitlines()
            return next(float(x.split()[-1]) for x in lines if x.startswith(f"{name} "))

        def until(name: str, value: float) -> None:
            give_up = time.monotonic() + 20
            while number(name) != value:
                assert time.monotonic() < give_up

        threads = [threading.Thread(target=ask, args=(english,)) for english, _ in KNOWN[:9]]
        threads[0].start()
        assert gate.begun.wait(20)
        for thread in threads[1:]:
            thread.start()
        until("mt_requests_waiting", 8)
        full = client.translate("one more")
        assert full.status == 429
        assert int(full.headers["retry-after"]) >= 1
        assert "too many requests are waiting" in full.error
        assert client.get("/health").status == 200
        gate.may.set()
        for thread in threads:
            thread.join(20)
        assert number("mt_batch_sentences_count") == 2
        assert number("mt_batch_sentences_sum") == 9
        assert number("mt_requests_waiting") == 0
    assert len(answers) == 9
    assert all(said == {"translatedText": expected} for expected, said in answers)


def test_what_takes_too_long_is_given_up(toy: ServedModel) -> None:
    model, gate = gated(toy)
    with served([model], Settings(Limits(seconds=0.3))) as client:
        said = client.translate(CAT)
        assert (said.status, said.error) == (504, "the translation was not there after 0.3 s")
        said = client.ask("POST", "/translate", slowly(), Content_Type="application/json")
        assert (said.status, said.error) == (408, "the body was not there after 0.3 s")
        gate.may.set()
    with served([toy]) as client:
        assert client.translate(CAT).status == 200


def slowly() -> Any:
    yield b'{"q": '
    time.sleep(0.6)
    yield b'"a"}'


def test_what_fails_is_told_in_a_line_and_harms_nobody(
    toy: ServedModel, capfd: pytest.CaptureFixture[str]
) -> None:
    model, gate = gated(toy)
    gate.may.set()
    search = gate.search

    def fails(framed: list[Any], *arguments: object) -> Any:
        if any(len(ids) == 3 for ids in framed):
            raise ZeroDivisionError("of ours")
        return search(framed, *arguments)

    gate.search = fails  # type: ignore[assignment,method-assign]
    with served([model]) as client:
        said = client.translate("cat")
        assert said.status == 500
        assert "ZeroDivision" not in said.error
        assert client.translate(CAT).json == {"translatedText": SENTENCES[CAT]}
    assert capfd.readouterr().err == (
        "mt: /translate could not be answered: ZeroDivisionError: of ours\n"
    )


def test_an_engine_that_cannot_is_422(toy: ServedModel) -> None:
    from mt.errors import UserError

    model, gate = gated(toy)

    def refuses(*arguments: object) -> Any:
        raise UserError("this engine has no beams")

    gate.search = refuses  # type: ignore[assignment,method-assign]
    with served([model]) as client:
        said = client.translate(CAT, alternatives=2)
    assert (said.status, said.error) == (422, "this engine has no beams")


def test_each_pair_goes_to_its_model(toy: ServedModel) -> None:
    back = toy.translator.with_search(toy.translator.search)
    back.src, back.tgt = back.tgt, back.src
    models = Models([toy, other := ServedModel("back", "torch", back)])
    assert models.find("en", "it") is toy
    assert models.find("it", "en") is other
    assert models.find("en", "en") is None
    assert (models.languages, models.targets("it")) == (["en", "it"], ["en"])
    with served([toy, other]) as client:
        assert [one["code"] for one in client.get("/languages").json] == ["en", "it"]
        said = client.translate("il gatto dorme oggi.", source="auto", target="en").json
        assert said["detectedLanguage"]["language"] == "it"
        both = client.post("/detect", q="the cat").json
        assert both[0] == {"confidence": 100.0, "language": "en"}


def test_two_models_of_one_pair_are_refused(toy: ServedModel) -> None:
    from mt.errors import UserError

    with pytest.raises(UserError, match="toy and toy both translate en to it"):
        Models([toy, toy])


def test_metrics_are_read_by_prometheus_and_count_what_happened(toy: ServedModel) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    with served([toy]) as client:
        client.translate([CAT, DOG])
        client.translate("")
        client.get("/nowhere")
        client.get("/%3Cscript%3E")
        said = client.get("/metrics")
    assert said.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = list(parser.text_string_to_metric_families(said.body.decode()))
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }
    requests = {key[1:]: value for key, value in samples.items() if key[0] == "mt_requests_total"}
    assert requests == {
        (("path", "/translate"), ("status", "200")): 1,
        (("path", "/translate"), ("status", "400")): 1,
        (("path", "other"), ("status", "404")): 2,
    }
    assert samples["mt_batch_sentences_sum",] == 2
    assert samples["mt_source_tokens_total",] == sum(map(toy.cost, (CAT, DOG)))
    model = ("engine", "torch"), ("name", "toy"), ("source", "en"), ("target", "it")
    assert samples["mt_model", *model] == 1
    assert samples["process_resident_memory_bytes",] > 1e6
    assert all(family.documentation for family in families)


def test_the_description_is_valid_and_of_all_paths(client: Client) -> None:
    said = client.get("/openapi.json").json
    assert said == json.loads(json.dumps(description(Limits())))
    for path, methods in said["paths"].items():
        for method, operation in methods.items():
            answer = client.ask(method.upper(), path)
            assert answer.status not in (404, 405), path
            assert str(answer.status) in operation["responses"], path
    pages = {"/", "/page.css", "/page.js", "/icon.svg"}
    metrics = client.get("/metrics").body.decode().splitlines()
    asked = {x.split('path="')[1].split('"')[0] for x in metrics if x.startswith("mt_requests_t")}
    assert asked - {"other"} <= set(said["paths"]) | pages
    validator = pytest.importorskip("openapi_spec_validator")
    validator.validate(said)


def test_answers_are_as_described(client: Client) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    said = client.get("/openapi.json").json

    def check(path: str, answer: Any, status: str = "200") -> None:
        [operation] = said["paths"][path].values()
        schema = operation["responses"][status]["content"]["application/json"]["schema"]
        jsonschema.validate(answer, {**schema, "components": said["components"]})

    pair = {"source": "en", "target": "it"}
    check("/translate", client.translate([CAT], source="auto", alternatives=2).json)
    check("/translate", client.translate("").json, "400")
    check("/detect", client.post("/detect", q=CAT).json)
    check("/languages", client.get("/languages").json)
    check("/mt/models", client.get("/mt/models").json)
    check("/mt/translate", client.post("/mt/translate", q=CAT, alternatives=1, **pair).json)
    check("/mt/attention", client.post("/mt/attention", q=CAT, **pair).json)
    with pytest.raises(jsonschema.ValidationError):
        check("/mt/models", [{"name": 5}])


def test_a_client_of_libretranslate_works_unchanged(client: Client, toy: ServedModel) -> None:
    api = pytest.importorskip("libretranslatepy").LibreTranslateAPI
    theirs = api(client.url)
    assert theirs.translate(CAT, "en", "it") == SENTENCES[CAT]
    assert theirs.translate("perché & così?", "auto", "it")
    assert theirs.detect(CAT)[0] == {"confidence": 100.0, "language": "en"}
    assert theirs.languages() == [{"code": "en", "name": "English", "targets": ["it"]}]
    with served([toy], Settings(keys=("secret",))) as keyed:
        assert api(keyed.url, "secret").translate(CAT, "en", "it") == SENTENCES[CAT]
