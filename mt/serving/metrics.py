"""What is counted, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector

from mt.serving.models import ServedModel

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        ProcessCollector(registry=own)
        self.requests = Counter(
            "mt_requests", "Requests answered.", ("path", "status"), registry=own
        )
        self.seconds = Histogram(
            "mt_request_seconds", "From a request to its answer.", ("path",), buckets=SECONDS,
            registry=own,
        )  # fmt: skip
        self.open = Gauge("mt_requests_open", "Requests not yet answered.", registry=own)
        self.waiting = Gauge(
            "mt_requests_waiting", "Requests of which something waits to be decoded.", registry=own
        )
        self.batches = Histogram(
            "mt_batch_sentences", "Sentences decoded together.", buckets=SENTENCES, registry=own
        )
        self.tokens = Counter("mt_source_tokens", "Source tokens decoded.", registry=own)
        self.decoding = Counter("mt_decoding_seconds", "Time spent decoding.", registry=own)
        self._models = Gauge(
            "mt_model", "1 for each model.", ("name", "engine", "source", "target"), registry=own
        )

    def serves(self, models: Iterable[ServedModel]) -> None:
        """Names the models."""
        for model in models:
            self._models.labels(model.name, model.engine, model.source, model.target).set(1)

    def batch(self, sentences: int, tokens: int, seconds: float) -> None:
        """Counts a batch."""
        self.batches.observe(sentences)
        self.tokens.inc(tokens)
        self.decoding.inc(seconds)

    def request(self, path: str, status: int, began: float) -> None:
        """Counts a request that began at a time of `time.perf_counter`."""
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(time.perf_counter() - began)

    def text(self) -> bytes:
        """All of them, in Prometheus' text format."""
        return generate_latest(self._registry)
