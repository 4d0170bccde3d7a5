"""Several processes training one model: who they are, and what they tell each other.

Started by torchrun, each process reads its place from the environment; alone, everything here is a
matter of course and costs nothing.
"""

from __future__ import annotations

import os
import platform
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

import torch
from torch import Tensor
from torch import distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from mt.errors import RunError, is_out_of_memory

T = TypeVar("T")
TO_MEET = timedelta(minutes=10)  # until all processes have come up
# For the slowest process, as when the first one learns a tokenizer. A process that dies is noticed
# at once, by its closed connections: this is for one that hangs.
PATIENCE = timedelta(hours=2)
LOST = (
    "another process of this job was lost, and with it the step at hand; "
    "the same command goes on from the last checkpoint"
)


class LostError(RunError):
    """Another process does not answer: it was killed, or it failed and has said why."""

    def __init__(self) -> None:
        super().__init__(LOST)


@dataclass(frozen=True)
class World:
    """This process among all: `rank` of `size`, counted from the one that torchrun calls `leader`.

    Also its number on its own machine, which machine that is, and the board on which a process
    leaves why it failed.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    machine: int = 0
    leader: int = 0
    board: Store | None = None

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
        tensor = torch.tensor(values, dtype=torch.float64)
        with _answered():
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
        with _answered():
            dist.all_reduce(flat)
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def gather(self, items: Sequence[T]) -> list[T]:
        """What `share` gave out to all processes, put back in order; the same list everywhere."""
        if self.size == 1:
            return list(items)
        parts: list[list[T]] = [[] for _ in range(self.size)]
        with _answered():
            dist.all_gather_object(parts, list(items))
        parts = parts[self.leader :] + parts[: self.leader]
        whole: list[T] = []
        for place in range(max(map(len, parts))):
            whole += [part[place] for part in parts if place < len(part)]
        return whole

    def led_by_most(self, number: int) -> World:
        """The same processes, counted from the one with the highest `number` on."""
        numbers = self.gather([number])
        leader = numbers.index(max(numbers))
        return replace(self, rank=(self.rank - leader) % self.size, leader=leader)

    def from_first(self, value: T) -> T:
        """What the first process gives, on all of them."""
        if self.size == 1:
            return value
        values = [value if self.is_first else None]
        with _answered():
            dist.broadcast_object_list(values, src=self.leader)
        received: T = values[0]  # type: ignore[assignment]
        return received

    def tensors_from_first(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The tensors that the first process gives, on all of them, on the CPU."""
        if self.size == 1:
            return dict(tensors)
        kinds = self.from_first([(name, t.shape, t.dtype) for name, t in tensors.items()])
        received = {}
        for name, shape, dtype in kinds:
            empty = torch.empty(shape, dtype=dtype)
            received[name] = tensors[name].cpu().contiguous() if self.is_first else empty
            with _answered():
                dist.broadcast(received[name], src=self.leader)
        return received

    @contextmanager
    def first_of_machine(self) -> Iterator[None]:
        """The first process of each machine does the block before the others there do.

        They find what it left on disk; machines need not share one.
        """
        if self.local_rank > 0:
            self.wait()
        yield
        if self.local_rank == 0:
            self.wait()

    def wait(self) -> None:
        """Until all processes are here."""
        self.sum([0.0])

    def to_tell(self, error: Exception, message: str) -> str | None:
        """What this process should say of its failure: on each machine one says it, once.

        None where another one does. Of a lost process is told why it failed, if it could say so.
        """
        if self.board is None:
            return message
        try:
            if not isinstance(error, LostError):
                where = f"process {self.rank} on {platform.node()}"
                self.board.set("failure", f"{where}: {message}")
            elif self.board.check(["failure"]):
                message = self.board.get("failure").decode()
            return message if self.board.add(f"told on {self.machine}", 1) == 1 else None
        except RuntimeError:  # the board went with the machine that kept it
            return message


ALONE = World()


@contextmanager
def _answered() -> Iterator[None]:
    """Raises LostError if the others do not answer."""
    try:
        yield
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise
        raise LostError from error


def join_world() -> World:
    """The world that torchrun set up; alone if there is none.

    What processes tell each other goes through gloo, gradients on GPUs through NCCL.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return ALONE
    board, rank, size = next(rendezvous("env://", timeout=TO_MEET))
    with _answered():
        board = PrefixStore(_name_of_this_start(board, rank, size), board)
    backend = "cpu:gloo,cuda:nccl" if dist.is_nccl_available() else "gloo"
    with _answered():
        dist.init_process_group(
            backend if torch.cuda.is_available() else "gloo",
            timeout=PATIENCE, store=board, rank=rank, world_size=size,
        )  # fmt: skip
    machine = int(os.environ.get("GROUP_RANK", "0"))
    return World(rank, size, int(os.environ["LOCAL_RANK"]), machine, board=board)


def _name_of_this_start(board: Store, rank: int, size: int) -> str:
    """A name that only the processes of this start know.

    When torchrun starts them again, what the earlier ones left on the board is still there. So the
    first one answers each that calls by a new name, until all have heard from it.
    """
    own = uuid.uuid4().hex
    if rank > 0:
        board.set(f"call/{rank}", own)
        name = board.get(f"answer/{own}").decode()
        board.add(f"heard/{name}", 1)
        return name
    since = time.monotonic()
    while board.add(f"heard/{own}", 0) < size - 1:
        if time.monotonic() - since > TO_MEET.total_seconds():
            raise LostError
        for call in (f"call/{other}" for other in range(1, size)):
            if board.check([call]):
                board.set(f"answer/{board.get(call).decode()}", own)
        time.sleep(0.02)
    return own


def leave_world() -> None:
    """Ends what `join_world` began."""
    if dist.is_initialized():
        dist.destroy_process_group()
