"""The OpenAPI description of the API."""

from __future__ import annotations

from typing import Any

from mt import __version__
from mt.serving.document import FORMATS
from mt.serving.requests import Limits

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
YES: Schema = {"type": "boolean"}
CODE: Schema = {"type": "string", "description": "The code of a language.", "examples": ["en"]}
REFUSALS = {
    "400": "A field is missing or wrong; the sentence names it.",
    "403": "The key is missing or wrong.",
    "408": "The body did not come in time.",
    "413": "The body is too large.",
    "415": "The body is neither JSON nor a form.",
    "422": "The engine of this model cannot do that, or not with this text.",
    "429": "Too many requests are waiting; the header Retry-After says when to try again.",
    "500": "The server failed.",
    "504": "The translation was not there in time.",
}


def description(limits: Limits, keys: bool = False) -> dict[str, Any]:
    """For a server with these limits, which asks for a key or does not."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mt",
            "version": __version__,
            "description": "Translates. What LibreTranslate's clients ask for is answered as "
            "LibreTranslate does; paths under /mt are this server's own.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": _paths(limits),
        "components": {
            "schemas": _SCHEMAS,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"bearer": []}] if keys else [],
    }


def _paths(limits: Limits) -> dict[str, Any]:
    alternatives = {**WHOLE, "minimum": 0, "maximum": limits.alternatives, "default": 0}
    many = {
        "oneOf": [TEXT, _list(TEXT)],
        "description": f"One text or several, of {limits.characters:,} characters and "
        f"{limits.lines:,} lines at most in all.",
    }
    source = {**CODE, "description": "The code of a language, or auto."}
    form = {"type": "string", "enum": list(FORMATS), "default": FORMATS[0]}
    translation = {"q": many, "source": source, "target": CODE, "format": form}
    return {
        "/translate": _post(
            "Translate texts or HTML.",
            _body(translation | {"alternatives": alternatives}, "q", "source", "target"),
            _ref("Translated"),
        ),
        "/detect": _post(
            "How well the vocabulary of each loaded language fits a text.",
            _body({"q": many}, "q"),
            _list(_ref("Detected")),
        ),
        "/languages": _get("The languages, and what each is translated to.", _list(_LANGUAGE)),
        "/frontend/settings": _get("What a page must know.", {"type": "object"}),
        "/suggest": _refused("Suggestions of better translations are not taken."),
        "/translate_file": _refused("Files are not translated."),
        "/health": _get("Whether the server answers.", _object(status=TEXT)),
        "/metrics": _get("Counters for Prometheus.", TEXT, "text/plain"),
        "/openapi.json": _get("This description.", {"type": "object"}),
        "/mt/models": _get("The models.", _list(_MODEL)),
        "/mt/translate": _post(
            "Translate one text, and tell how, word by word.",
            _body(
                {"q": TEXT, "source": source, "target": CODE, "alternatives": alternatives},
                "q", "source", "target",
            ),
            _ref("Explained"),
        ),
        "/mt/attention": _post(
            "Where the model looked: the mean over layers and heads, or one of them.",
            _body(
                {"q": TEXT, "source": CODE, "target": CODE,
                 "layer": {**WHOLE, "description": "From 1; 0 is all of them."},
                 "head": {**WHOLE, "description": "From 1; 0 is all of them."}},
                "q", "source", "target",
            ),
            _object(source=_list(TEXT), target=_list(TEXT), weights=_list(_list(NUMBER)),
                    layers=WHOLE, heads=WHOLE),
        ),
    }  # fmt: skip


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _answer(text: str, schema: Schema, kind: str = "application/json") -> Schema:
    return {"description": text, "content": {kind: {"schema": schema}}}


def _body(properties: dict[str, Schema], *required: str) -> Schema:
    key = {**TEXT, "description": "The key, if the server asks for one."}
    schema = {
        "type": "object",
        "properties": {**properties, "api_key": key},
        "required": list(required),
    }
    kinds = "application/json", "application/x-www-form-urlencoded"
    return {"required": True, "content": {kind: {"schema": schema} for kind in kinds}}


def _post(summary: str, body: Schema, answer: Schema) -> Schema:
    refusals = {status: _answer(text, _ref("Error")) for status, text in REFUSALS.items()}
    return {
        "post": {
            "summary": summary,
            "requestBody": body,
            "responses": {"200": _answer("The answer.", answer), **refusals},
        }
    }


def _get(summary: str, answer: Schema, kind: str = "application/json") -> Schema:
    return {"get": {"summary": summary, "responses": {"200": _answer("It.", answer, kind)}}}


def _refused(summary: str) -> Schema:
    return {"post": {"summary": summary, "responses": {"403": _answer("No.", _ref("Error"))}}}


_NAMED = _object(code=CODE, name=TEXT)
_LANGUAGE = _object(code=CODE, name=TEXT, targets=_list(CODE))
_MODEL = _object(
    name=TEXT, engine=TEXT, source=_NAMED, target=_NAMED, attention=YES, alternatives=YES,
    layers=WHOLE, heads=WHOLE,
)  # fmt: skip
_PAIR = {**_list(WHOLE), "minItems": 2, "maxItems": 2}
_ALTERNATIVE = _object(
    text=TEXT,
    tokens=_list(TEXT),
    copied={**_list(TEXT), "description": "Source words that stand in it as they were."},
    marked={**_list(WHOLE), "description": "Its words that the model could not say."},
    words={**_list(_PAIR), "description": "Word of the source, word of the translation."},
    alignment={**_list(_PAIR), "description": "The same of tokens."},
    score=NUMBER,
)
_SENTENCE = _object(
    before={**TEXT, "description": "What stands between the translations of the last and of it."},
    source=TEXT,
    tokens=_list(TEXT),
    unknown={**_list(TEXT), "description": "Words that the model does not know."},
    cut=YES,
    repeated=YES,
    parts=WHOLE,
    alternatives={**_list(_ALTERNATIVE), "description": "The best first."},
)
_PIECE = {
    "type": "object",
    "properties": {"text": TEXT, "sentence": WHOLE, "word": WHOLE, "unknown": YES},
    "required": ["text"],
}
_ONE_OR_MORE = {"oneOf": [TEXT, _list(TEXT)]}
_DETECTED = _ref("Detected")
_SCHEMAS: dict[str, Schema] = {
    "Error": _object(error=TEXT),
    "Detected": _object(
        language=CODE,
        confidence={
            **NUMBER,
            "description": "How much of the text the vocabulary of that language has, in percent.",
        },
    ),
    "Translated": {
        "type": "object",
        "properties": {
            "translatedText": _ONE_OR_MORE,
            "alternatives": {"oneOf": [_list(TEXT), _list(_list(TEXT))]},
            "detectedLanguage": {"oneOf": [_DETECTED, _list(_DETECTED)]},
        },
        "required": ["translatedText"],
    },
    "Explained": {
        "type": "object",
        "properties": {
            "translatedText": TEXT,
            "source": {**_list(_PIECE), "description": "Together they are q."},
            "sentences": _list(_SENTENCE),
            "after": TEXT,
            "detectedLanguage": _DETECTED,
        },
        "required": ["translatedText", "source", "sentences", "after"],
    },
}
