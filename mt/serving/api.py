"""The application: LibreTranslate's API, our own, and the page."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mt.decoding.attention import AttentionMaps
from mt.decoding.translator import Translation
from mt.errors import UserError
from mt.serving.answers import Answer, Outermost, refused
from mt.serving.batcher import Batcher, FullError, Work
from mt.serving.detection import detect
from mt.serving.document import FORMATS, TEXT, Document
from mt.serving.explanation import explain
from mt.serving.languages import language_name
from mt.serving.metrics import Metrics
from mt.serving.models import Looking, Models, ServedModel, Translating
from mt.serving.openapi import description
from mt.serving.page import page_routes
from mt.serving.requests import (
    Limits,
    Refusal,
    choice_of,
    count_of,
    language_of,
    read_fields,
    text_of,
    texts_of,
    too_many_lines,
)

T = TypeVar("T")
AUTO = "auto"
PREFLIGHT = 24 * 60 * 60  # seconds for which a browser remembers what is allowed


@dataclass(frozen=True)
class Settings:
    """How to serve: limits, batches, and who may ask."""

    limits: Limits = field(default_factory=Limits)
    batch_tokens: int = 2_048  # of a batch
    window: float = 0.005  # seconds that a request waits for others
    queue: int = 100  # requests that may wait
    keys: tuple[str, ...] = ()  # none: anyone may ask
    origin: str | None = "*"  # whose pages may ask from a browser


class Api:
    """The answers to requests."""

    def __init__(self, models: Models, settings: Settings) -> None:
        self.models = models
        self.settings = settings
        self.limits = settings.limits
        self.metrics = Metrics()
        self.metrics.serves(models)
        self.batcher = Batcher(
            settings.batch_tokens, settings.window, settings.queue, self.metrics.batch
        )
        self.metrics.waiting.set_function(lambda: self.batcher.waiting)

    async def translate(self, request: Request) -> Response:
        """Translates `q`, a string or a list, as LibreTranslate does."""
        fields = await self._fields(request)
        texts, is_list = texts_of(fields, self.limits)
        wanted = count_of(fields, "alternatives", self.limits.alternatives)
        source, target = language_of(fields, "source"), language_of(fields, "target")
        form = choice_of(fields, "format", FORMATS)
        detected = self._detect("\n".join(texts), target) if source == AUTO else None
        model = self._model(detected["language"] if detected else source, target)
        work = Translating(model, wanted if form == TEXT else 0)
        documents, found = await self._translate(request, work, texts, form)
        made, others = [], []
        for document in documents:
            own = [next(found) for _ in document.sentences]
            made.append(document.put_together([one.text for one in own], model.space))
            others.append(_others(document, own, model.space, wanted))
        answer: dict[str, Any] = {"translatedText": made if is_list else made[0]}
        if detected:
            answer["detectedLanguage"] = [detected] * len(texts) if is_list else detected
        if wanted:
            answer["alternatives"] = others if is_list else others[0]
        return Answer(answer)

    async def explain(self, request: Request) -> Response:
        """Translates one text and tells how, word by word."""
        fields = await self._fields(request)
        text = self._one_text(fields)
        wanted = count_of(fields, "alternatives", self.limits.alternatives)
        source, target = language_of(fields, "source"), language_of(fields, "target")
        detected = self._detect(text, target) if source == AUTO else None
        model = self._model(detected["language"] if detected else source, target)
        documents, found = await self._translate(
            request, Translating(model, wanted, align=True), [text], TEXT
        )
        sentences = list(found)
        translated = documents[0].put_together([one.text for one in sentences], model.space)
        answer = {"translatedText": translated, **explain(documents[0], sentences, model)}
        return Answer(answer | ({"detectedLanguage": detected} if detected else {}))

    async def attention(self, request: Request) -> Response:
        """Where the model looked for one sentence: the mean of all maps, or that of one head."""
        fields = await self._fields(request)
        text = self._one_text(fields)
        model = self._model(language_of(fields, "source"), language_of(fields, "target"))
        layer = count_of(fields, "layer", model.layers)
        head = count_of(fields, "head", model.heads)
        [maps] = await self._do(request, Looking(model), [text], [model.cost(text)])
        return Answer(_map(maps, layer, head))

    async def detect(self, request: Request) -> Response:
        """How well the vocabulary of each loaded language fits a text."""
        fields = await self._fields(request)
        texts, _ = texts_of(fields, self.limits)
        found = detect(self.models.tokenizers, "\n".join(texts))
        answers = [_confidence(*one) for one in found]
        return Answer([one for one in answers if one["confidence"]] or answers[:1])

    async def languages(self, request: Request) -> Response:
        """The languages that can be read, and what each can be translated to."""
        return Answer(
            [
                {"code": code, "name": language_name(code), "targets": self.models.targets(code)}
                for code in self.models.sources
            ]
        )

    async def settings_of_frontend(self, request: Request) -> Response:
        """What LibreTranslate's page, and ours, must know."""
        first = next(iter(self.models))
        return Answer(
            {
                "apiKeys": bool(self.settings.keys),
                "keyRequired": bool(self.settings.keys),
                "charLimit": self.limits.characters,
                "frontendTimeout": 400,
                "filesTranslation": False,
                "supportedFilesFormat": [],
                "suggestions": False,
                "language": {
                    "source": _named(first.source),
                    "target": _named(first.target),
                },
            }
        )

    async def list_models(self, request: Request) -> Response:
        """The models, for the page."""
        return Answer(
            [
                {
                    "name": model.name,
                    "engine": model.engine,
                    "source": _named(model.source),
                    "target": _named(model.target),
                    "attention": model.draws_attention,
                    "alternatives": model.finds_alternatives,
                    "layers": model.layers,
                    "heads": model.heads,
                }
                for model in self.models
            ]
        )

    async def health(self, request: Request) -> Response:
        """That the server answers."""
        return Answer({"status": "ok"})

    async def show_metrics(self, request: Request) -> Response:
        """The counters; with keys, to those who have one."""
        self._check_key(request, {})
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def describe(self, request: Request) -> Response:
        """The OpenAPI description."""
        return Answer(description(self.limits, keys=bool(self.settings.keys)))

    async def no_suggestions(self, request: Request) -> Response:
        """What LibreTranslate answers where they are off."""
        raise Refusal(403, "Suggestions are disabled on this server.")

    async def no_files(self, request: Request) -> Response:
        """What LibreTranslate answers where they are off."""
        raise Refusal(403, "Files translation are disabled on this server.")

    async def _fields(self, request: Request) -> dict[str, Any]:
        fields = await read_fields(request, self.limits)
        self._check_key(request, fields)
        return fields

    def _check_key(self, request: Request, fields: dict[str, Any]) -> None:
        if not self.settings.keys:
            return
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        key = fields.get("api_key") or (bearer if kind.lower() == "bearer" else "")
        if not key:
            raise Refusal(403, "Please contact the server operator to get an API key")
        given = str(key).encode("utf-8", "replace")
        if not any(hmac.compare_digest(given, known.encode()) for known in self.settings.keys):
            raise Refusal(403, "Invalid API key")

    def _one_text(self, fields: dict[str, Any]) -> str:
        texts_of(fields, self.limits)
        return text_of(fields, "q")

    def _detect(self, text: str, target: str) -> dict[str, Any]:
        """Among the languages that can be translated to the target, or all that can be read."""
        sources = [code for code in self.models.sources if target in self.models.targets(code)]
        known = self.models.tokenizers
        found = detect({code: known[code] for code in sources or self.models.sources}, text)
        return _confidence(*found[0])

    def _model(self, source: str, target: str) -> ServedModel:
        if source not in self.models.sources:
            raise Refusal(400, f"source {source} is not supported")
        if target not in self.models.languages:
            raise Refusal(400, f"target {target} is not supported")
        if (model := self.models.find(source, target)) is None:
            names = [f"{language_name(code)} ({code})" for code in (target, source)]
            raise Refusal(400, " is not available as a target language from ".join(names))
        return model

    async def _translate(
        self, request: Request, work: Translating, texts: Sequence[str], form: str
    ) -> tuple[list[Document], Any]:
        """The texts cut into sentences, and an iterator over all their translations."""
        model = work.model

        def prepare() -> tuple[list[Document], list[str], list[int]]:
            documents = [Document.of(text, form, model.whole_lines) for text in texts]
            passages = sum(len(list(document.passages)) for document in documents)
            if passages > self.limits.lines:
                raise too_many_lines(passages, self.limits)
            sentences = [one for document in documents for one in document.sentences]
            return documents, sentences, [model.cost(sentence) for sentence in sentences]

        documents, sentences, costs = await run_in_threadpool(prepare)
        found: list[Translation] = await self._do(request, work, sentences, costs)
        return documents, iter(found)

    async def _do(
        self, request: Request, work: Work, items: Sequence[str], costs: Sequence[int]
    ) -> list[Any]:
        """What the batcher makes of the items, unless it takes too long or who asked is gone."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await _unless_gone(request, self.batcher.do(work, items, costs))
        except TimeoutError:
            raise Refusal(
                504, f"the translation was not there after {self.limits.seconds:g} s"
            ) from None
        except FullError as full:
            raise Refusal(
                429,
                f"too many requests are waiting; try again in {full.pause} s",
                {"retry-after": str(full.pause)},
            ) from None
        except UserError as error:
            raise Refusal(422, str(error)) from None


async def _unless_gone(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`; it is cancelled when the client closes the connection."""
    doing = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((doing, gone), return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise Refusal(499, "the client has gone")
        return doing.result()
    finally:
        for task in (doing, gone):
            task.cancel()
        await asyncio.gather(doing, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _others(document: Document, found: Sequence[Translation], space: str, count: int) -> list[str]:
    """Other translations of a whole document: the next ones of all its sentences.

    A sentence that has no more keeps its last. None of HTML, as with LibreTranslate.
    """
    most = max((len(one.alternatives) for one in found), default=0)
    texts = []
    for n in range(1, min(count + 1, most)):
        own = [one.alternatives[n].text if n < len(one.alternatives) else one.text for one in found]
        texts.append(document.put_together(own, space))
    return texts


def _confidence(language: str, fit: float) -> dict[str, Any]:
    return {"confidence": round(100 * fit, 1), "language": language}


def _named(code: str) -> dict[str, str]:
    return {"code": code, "name": language_name(code)}


def _map(maps: AttentionMaps, layer: int, head: int) -> dict[str, Any]:
    """A map; layers and heads count from 1, and 0 is the mean over all of them."""
    weights = maps.weights
    layers, heads = weights.shape[:2]
    weights = weights[layer - 1 : layer] if layer else weights
    weights = weights[:, head - 1 : head] if head else weights
    rows = [[round(float(weight), 3) for weight in row] for row in weights.mean(axis=(0, 1))]
    return {
        "source": maps.src,
        "target": maps.tgt,
        "weights": rows,
        "layers": layers,
        "heads": heads,
    }


def application(models: Models, settings: Settings) -> Starlette:
    """The ASGI application that serves the models."""
    api = Api(models, settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        api.batcher.start()
        yield
        await run_in_threadpool(api.batcher.stop)

    def get(path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
        return Route(path, answer, methods=["GET"])

    def post(path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
        return Route(path, answer, methods=["POST"])

    routes = [
        post("/translate", api.translate),
        post("/detect", api.detect),
        get("/languages", api.languages),
        get("/frontend/settings", api.settings_of_frontend),
        post("/suggest", api.no_suggestions),
        post("/translate_file", api.no_files),
        get("/health", api.health),
        get("/metrics", api.show_metrics),
        get("/openapi.json", api.describe),
        get("/mt/models", api.list_models),
        post("/mt/translate", api.explain),
        post("/mt/attention", api.attention),
        *page_routes(),
    ]
    outer = [Middleware(Outermost, metrics=api.metrics, paths={route.path for route in routes})]
    if settings.origin:
        # As LibreTranslate's, but without credentials, which no browser lets through for any
        # origin, and which nobody needs: a key is a field.
        cors = Middleware(
            CORSMiddleware,
            allow_origins=[settings.origin],
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            max_age=PREFLIGHT,
        )
        outer.append(cors)
    app = Starlette(
        routes=routes,
        middleware=outer,
        exception_handlers={Refusal: refused, HTTPException: refused},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app
