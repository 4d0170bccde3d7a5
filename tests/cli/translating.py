"""What tests of `mt translate` share."""

from __future__ import annotations

from collections.abc import Callable

from tests.conftest import SENTENCES, Result

Mt = Callable[..., Result]


CAT, DOG = "the cat sleeps today.", "the dog sings well."


CAT_IT, DOG_IT = SENTENCES[CAT], SENTENCES[DOG]
