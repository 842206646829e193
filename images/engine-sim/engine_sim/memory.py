"""Decode's KV pool: one region of address space, registered once with the transfer engine, as the real pool is.

Pages are only backed by memory while bytes lie in them: a slot's pages are given back as soon as its checksum was verified and its
states were read, although the tokens stay booked until the request ends. So the pool may be as large as a GPU's on a small machine.
A slot is contiguous (the real one is paged and needs no contiguous run).
"""

from __future__ import annotations

import ctypes
import mmap
from dataclasses import dataclass

PAGE = mmap.PAGESIZE
NORESERVE = 0x4000
"""MAP_NORESERVE of Linux: address space without a claim on memory."""


@dataclass(frozen=True)
class Slot:
    """A run of the pool that holds one request's KV."""

    offset: int
    length: int


class Region:
    """Anonymous memory with an address, for registering with the transfer engine."""

    def __init__(self, length: int) -> None:
        self.length = -(-length // PAGE) * PAGE
        self._map = mmap.mmap(-1, self.length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE)
        self._anchor = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._anchor)

    def view(self, offset: int, length: int) -> memoryview:
        """The bytes of a part. Release it soon: it pins nothing, but keeps the mapping open."""
        return memoryview(self._map)[offset : offset + length]

    def write(self, data: bytes) -> None:
        """Puts bytes at the start."""
        self._map[: len(data)] = data

    def give_back(self, offset: int, length: int) -> None:
        """Returns the memory behind a page-aligned part to the system; it reads as zero afterwards."""
        self._map.madvise(mmap.MADV_DONTNEED, offset, -(-length // PAGE) * PAGE)


class Pool:
    """First-fit runs inside one region."""

    def __init__(self, length: int) -> None:
        self.region = Region(length)
        self._used: list[Slot] = []  # by offset

    def take(self, length: int) -> Slot | None:
        """A free run of at least `length` bytes, page-aligned; None if there is none."""
        length = max(PAGE, -(-length // PAGE) * PAGE)
        start = 0
        for index, slot in enumerate([*self._used, Slot(self.region.length, 0)]):
            if slot.offset - start >= length:
                taken = Slot(start, length)
                self._used.insert(index, taken)
                return taken
            start = slot.offset + slot.length
        return None

    def release(self, slot: Slot) -> None:
        """Frees a run and the memory behind it. Twice is once."""
        if slot in self._used:
            self._used.remove(slot)
            self.region.give_back(slot.offset, slot.length)
