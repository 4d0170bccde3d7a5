"""Several processes training one model: who they are, and what they tell each other.

Started by torchrun, each process reads its place from the environment; alone, everything here is a
matter of course and costs nothing.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor
from torch import distributed as dist

T = TypeVar("T")
PATIENCE = datetime.timedelta(minutes=30)  # for the slowest process, as when rank 0 reads a corpus


@dataclass(frozen=True)
class World:
    """This process among all: `rank` of `size`, and its number on its own machine."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that writes and reports."""
        return self.rank == 0

    def share(self, items: Sequence[T]) -> Sequence[T]:
        """Every `size`-th item, from this process's own on."""
        return items[self.rank :: self.size]

    def sum(self, values: list[float]) -> list[float]:
        """The sums over all processes, in double precision."""
        if self.size == 1:
            return values
        # NCCL sums on GPUs alone, gloo on the CPU.
        place = "cpu" if dist.get_backend() == "gloo" else f"cuda:{self.local_rank}"
        tensor = torch.tensor(values, dtype=torch.float64, device=place)
        dist.all_reduce(tensor)
        return [float(value) for value in tensor.tolist()]

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Adds up the gradients of all processes, in place; a missing one counts as zero."""
        if self.size == 1:
            return
        gradients = []
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad)
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def gather(self, items: Sequence[T]) -> list[T]:
        """What `share` gave out to all processes, put back in order; the same list everywhere."""
        if self.size == 1:
            return list(items)
        parts: list[list[T]] = [[] for _ in range(self.size)]
        dist.all_gather_object(parts, list(items))
        whole: list[T] = []
        for place in range(max(map(len, parts))):
            whole += [part[place] for part in parts if place < len(part)]
        return whole

    @contextmanager
    def first_alone(self) -> Iterator[None]:
        """Rank 0 does the block before the others do: they find what it left on disk."""
        if self.size > 1 and not self.is_first:
            dist.barrier()
        yield
        if self.size > 1 and self.is_first:
            dist.barrier()

    def wait(self) -> None:
        """Until all processes are here."""
        if self.size > 1:
            dist.barrier()


ALONE = World()


def join_world(device: str) -> World:
    """The world that torchrun set up, gloo on CPU and NCCL on GPUs; alone if there is none."""
    if "WORLD_SIZE" not in os.environ or int(os.environ["WORLD_SIZE"]) == 1:
        return ALONE
    world = World(
        int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_RANK"])
    )
    on_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    if not dist.is_initialized():
        dist.init_process_group("nccl" if on_gpu else "gloo", timeout=PATIENCE)
    return world


def leave_world() -> None:
    """Ends what `join_world` began."""
    if dist.is_initialized():
        dist.destroy_process_group()
