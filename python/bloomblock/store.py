"""Stores, their batches and their snapshots: the extension's types, with blocks of `with`."""
from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Iterable, Mapping, Optional, Tuple, Type, Union

from . import _native

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Batch(_native.Batch):
    """Operations that a store applies atomically.

    At the end of a `with` block the batch is written, unless the block raises: then it is
    dropped. Without `with`, pass it to Store.write().
    """

    def __init__(self, store: Optional["Store"] = None, *, sync: bool = False) -> None:
        self._store = store
        self._sync = sync

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if kind is None and self._store is not None:
            self._store.write(self, sync=self._sync)
        self.clear()


class Store(_native.Store):
    """A store of keys and values, both bytes; keys are ordered bytewise.

    Options are the fields of struct bb_db_options, which docs/options.md of bloomblock explains.
    Enumerations are words: compression="none".

    Any number of threads may use a store. Calls that may block release the interpreter's lock. In a
    child made by fork every call fails with InvalidError: the child opens the store itself.
    """

    _path: str = ""  # before __init__ has opened it

    def __init__(self, path: Path, **options: Any) -> None:
        super().__init__(path, **options)
        self._path = os.fsdecode(path)

    @property
    def path(self) -> str:
        """The directory."""
        return self._path

    def batch(self, *, sync: bool = False) -> Batch:
        """A batch that is written at the end of a `with` block."""
        return Batch(self, sync=sync)

    def update(self, items: Union[Mapping[bytes, bytes], Iterable[Tuple[bytes, bytes]]], *,
               sync: bool = False) -> None:
        """Stores the pairs of a mapping, or of an iterable, in batches of about a megabyte."""
        batch = Batch()
        for key, value in items.items() if isinstance(items, Mapping) else items:
            batch.put(key, value)
            if batch.size_bytes >= 1 << 20:
                self.write(batch)
                batch.clear()
        self.write(batch, sync=sync)

    def __repr__(self) -> str:
        return f"<bloomblock.Store {self._path!r}{' closed' if self.closed else ''}>"


def open(path: Path, **options: Any) -> Store:  # pylint: disable=redefined-builtin
    """Opens a store, and creates it if it does not exist."""
    options.setdefault("create_if_missing", not options.get("read_only", False))
    return Store(path, **options)
