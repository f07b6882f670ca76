"""The interface of plyvel, LevelDB's module for Python, over bloomblock.

    import bloomblock.plyvel as plyvel
    db = plyvel.DB("words", create_if_missing=True)

runs a program that was written for plyvel. The store on disk is bloomblock's: `bloomblock import
leveldb` copies an old one. Other differences:

- A comparator of the caller's is refused with NotImplementedError.
- lru_cache_size is the size of the block cache, bloom_filter_bits the bits per key of all filters,
  write_buffer_size, block_size, block_restart_interval and max_file_size keep their meaning.
  compression is "snappy" or None in plyvel; the library's "lz4" and "none" are taken too. Options
  of LevelDB without a counterpart are ignored: paranoid_checks, max_open_files below 16.
- An iterator never leaves its range; plyvel's may, after a seek and a move across its start, and
  its reverse iterators miss a single entry between start and stop.
- get_property() returns None for every name.
- A method of a closed database raises RuntimeError, as in plyvel; other failures raise Error,
  IOError or CorruptionError of this module, with bloomblock's message.
"""
from __future__ import annotations

import builtins
from typing import Any, List, Optional, Tuple, Union

from . import _native, errors
from .store import Path

__all__ = ["DB", "CorruptionError", "Error", "IOError", "IteratorInvalidError", "destroy_db", "repair_db"]


class Error(Exception):
    """A call failed."""


class IOError(Error, builtins.IOError):  # pylint: disable=redefined-builtin
    """The operating system reported an error, or the database is in use."""


class CorruptionError(Error):
    """Damaged data."""


def _error_of(error: errors.Error) -> Exception:
    """The exception of this module for one of the library."""
    text = str(error)
    if isinstance(error, errors.CorruptError):
        return CorruptionError(text)
    if isinstance(error, (errors.InputOutputError, errors.BusyError)):
        return IOError(text)
    if isinstance(error, errors.InvalidError) and text.endswith("is closed"):
        return RuntimeError(text)
    return Error(text)


class _Translated:
    """A block in which the library's exceptions become this module's."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, errors.Error):
            raise _error_of(error) from error


_TRANSLATED = _Translated()


def _after(key: bytes) -> bytes:
    """The next possible key."""
    return key + b"\0"


def _end_of_prefix(prefix: bytes) -> Optional[bytes]:
    """The first possible key after all keys with the prefix, or None."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None


def _bounds(start: Optional[bytes], stop: Optional[bytes], include_start: bool, include_stop: bool,
            prefix: Optional[bytes]) -> Tuple[Optional[bytes], Optional[bytes]]:
    """Low, inclusive, and high, exclusive."""
    if prefix is not None:
        if start is not None or stop is not None:
            raise TypeError("'prefix' cannot be used together with 'start' or 'stop'")
        return prefix or None, _end_of_prefix(prefix)
    low = _after(start) if start is not None and not include_start else start
    high = _after(stop) if stop is not None and include_stop else stop
    return low, high


def _tighter(low: Optional[bytes], high: Optional[bytes], prefix: bytes) -> Tuple[bytes, Optional[bytes]]:
    """Bounds relative to a prefix as bounds of whole keys."""
    return prefix + (low or b""), _end_of_prefix(prefix) if high is None else prefix + high


class BaseIterator:
    """A cursor, and the length of the prefix that is removed from its keys."""

    def __init__(self, source: Any, low: Optional[bytes], high: Optional[bytes], cut: int) -> None:
        with _TRANSLATED:
            self._cursor: _native.Cursor = source.cursor(low=low, high=high)
        self._cut = cut

    def close(self) -> None:
        """Releases the cursor."""
        self._cursor.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class Iterator(BaseIterator):
    """A place between two entries, moved in both directions.

    The place is before the cursor's key, or at the end of the range if the cursor is at no key.
    """

    def __init__(self, source: Any, low: Optional[bytes], high: Optional[bytes], reverse: bool, include_key: bool,
                 include_value: bool, prefix: bytes) -> None:
        super().__init__(source, low, high, len(prefix))
        self._prefix = prefix
        self._reverse = reverse
        self._keys = include_key
        self._values = include_value
        self._seek_to_edge(reverse)

    def _item(self) -> Any:
        cursor = self._cursor
        if not self._keys:
            return cursor.value if self._values else None
        key = cursor.key[self._cut:] if self._cut else cursor.key
        return (key, cursor.value) if self._values else key

    def _forward(self) -> Any:
        cursor = self._cursor
        if not cursor.valid:
            if cursor.closed:
                raise RuntimeError("the database or the iterator is closed")
            raise StopIteration
        item = self._item()
        cursor.next()
        return item

    def _backward(self) -> Any:
        cursor = self._cursor
        if not (cursor.prev() if cursor.valid else cursor.last()):
            cursor.first()
            raise StopIteration
        return self._item()

    def __iter__(self) -> "Iterator":
        return self

    def __next__(self) -> Any:
        try:
            return self._backward() if self._reverse else self._forward()
        except errors.Error as error:
            raise _error_of(error) from error

    def next(self) -> Any:
        """The next entry."""
        return self.__next__()

    def prev(self) -> Any:
        """The entry before the place."""
        with _TRANSLATED:
            return self._forward() if self._reverse else self._backward()

    def seek_to_start(self) -> None:
        """Moves before the first key of the range, also in a reverse iterator."""
        self._seek_to_edge(False)

    def seek_to_stop(self) -> None:
        """Moves after the last key of the range, also in a reverse iterator."""
        self._seek_to_edge(True)

    def _seek_to_edge(self, at_end: bool) -> None:
        with _TRANSLATED:
            if not at_end:
                self._cursor.first()
            elif self._cursor.last():
                self._cursor.next()

    def seek(self, target: bytes) -> None:
        """Moves before the target."""
        with _TRANSLATED:
            self._cursor.seek(self._prefix + target)


class RawIterator(BaseIterator):
    """An iterator as LevelDB itself has it."""

    def __init__(self, source: Any, prefix: bytes) -> None:
        super().__init__(source, prefix or None, _end_of_prefix(prefix), len(prefix))
        self._prefix = prefix

    def valid(self) -> bool:
        """Whether the iterator is at an entry."""
        return self._cursor.valid

    def _check(self) -> None:
        if not self._cursor.valid:
            raise IteratorInvalidError()

    def seek_to_first(self) -> None:
        """Moves to the first entry."""
        with _TRANSLATED:
            self._cursor.first()

    def seek_to_last(self) -> None:
        """Moves to the last entry."""
        with _TRANSLATED:
            self._cursor.last()

    def seek(self, target: bytes) -> None:
        """Moves to the first entry at or after target."""
        with _TRANSLATED:
            self._cursor.seek(self._prefix + target)

    def next(self) -> None:
        """Moves to the next entry."""
        self._check()
        with _TRANSLATED:
            self._cursor.next()

    def prev(self) -> None:
        """Moves to the previous entry."""
        self._check()
        with _TRANSLATED:
            self._cursor.prev()

    def key(self) -> bytes:
        """The key of the entry."""
        self._check()
        return self._cursor.key[self._cut:]

    def value(self) -> bytes:
        """The value of the entry."""
        self._check()
        return self._cursor.value

    def item(self) -> Tuple[bytes, bytes]:
        """Key and value of the entry."""
        return self.key(), self.value()


class IteratorInvalidError(Error):
    """A RawIterator is at no entry."""


class WriteBatch:
    """Operations that are applied atomically."""

    def __init__(self, db: "DB", prefix: bytes, transaction: bool, sync: bool) -> None:
        self._db = db
        self._prefix = prefix
        self._transaction = transaction
        self._sync = sync
        self._batch = _native.Batch()
        self._operations: List[Tuple[bytes, Optional[bytes]]] = []

    def put(self, key: bytes, value: bytes) -> None:
        """Adds a value."""
        self._batch.put(self._prefix + key, value)
        self._operations.append((self._prefix + key, bytes(value)))

    def delete(self, key: bytes) -> None:
        """Adds the deletion of a key."""
        self._batch.delete(self._prefix + key)
        self._operations.append((self._prefix + key, None))

    def clear(self) -> None:
        """Removes all operations."""
        self._batch.clear()
        self._operations.clear()

    def append(self, source: "WriteBatch") -> None:
        """Adds the operations of another batch."""
        for key, value in list(source._operations):
            if value is None:
                self._batch.delete(key)
            else:
                self._batch.put(key, value)
            self._operations.append((key, value))

    def approximate_size(self) -> int:
        """Bytes of the operations in the log."""
        return self._batch.size_bytes

    def write(self) -> None:
        """Applies the operations; the batch keeps them."""
        with _TRANSLATED:
            self._db._store.write(self._batch, sync=self._sync)

    def __enter__(self) -> "WriteBatch":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None or not self._transaction:
            self.write()
        self.clear()


class _Reader:
    """Reads of a database, of a part of it under a prefix, or of a snapshot."""

    _source: Any  # a store or a snapshot of the library
    _prefix: bytes = b""

    def get(self, key: bytes, default: Optional[bytes] = None, *, verify_checksums: bool = False,
            fill_cache: bool = True) -> Optional[bytes]:
        """The value of a key, or default. Checksums are always verified."""
        del verify_checksums, fill_cache
        try:  # faster than a block of _TRANSLATED
            value: Optional[bytes] = self._source.get(self._prefix + key if self._prefix else key, default)
            return value
        except errors.Error as error:
            raise _error_of(error) from error

    def iterator(self, reverse: bool = False, start: Optional[bytes] = None, stop: Optional[bytes] = None,
                 include_start: bool = True, include_stop: bool = False, prefix: Optional[bytes] = None,
                 include_key: bool = True, include_value: bool = True, verify_checksums: bool = False,
                 fill_cache: bool = True) -> Iterator:
        """An iterator over a range."""
        del verify_checksums, fill_cache
        low, high = _bounds(start, stop, include_start, include_stop, prefix)
        if self._prefix:
            low, high = _tighter(low, high, self._prefix)
        return Iterator(self._source, low, high, reverse, include_key, include_value, self._prefix)

    def raw_iterator(self, verify_checksums: bool = False, fill_cache: bool = True) -> RawIterator:
        """An iterator as LevelDB itself has it."""
        del verify_checksums, fill_cache
        return RawIterator(self._source, self._prefix)

    def __iter__(self) -> Iterator:
        return self.iterator()


class Snapshot(_Reader):
    """The state of a database at one moment."""

    def __init__(self, db: "DB", prefix: bytes) -> None:
        with _TRANSLATED:
            self._source = db._store.snapshot()
        self._prefix = prefix

    def close(self) -> None:
        """Releases the snapshot."""
        self._source.close()

    def __enter__(self) -> "Snapshot":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class _Writer(_Reader):
    """Writes to a database, or to a part of it under a prefix."""

    db: "DB"

    def put(self, key: bytes, value: bytes, *, sync: bool = False) -> None:
        """Stores a value."""
        try:
            self._source.put(self._prefix + key if self._prefix else key, value, sync=sync)
        except errors.Error as error:
            raise _error_of(error) from error

    def delete(self, key: bytes, *, sync: bool = False) -> None:
        """Deletes a key."""
        with _TRANSLATED:
            self._source.delete(self._prefix + key, sync=sync)

    def write_batch(self, *, transaction: bool = False, sync: bool = False) -> WriteBatch:
        """A batch. Its `with` block writes it at the end; if the block raises, only without
        transaction."""
        return WriteBatch(self.db, self._prefix, transaction, sync)

    def snapshot(self) -> Snapshot:
        """The state of now."""
        return Snapshot(self.db, self._prefix)

    def prefixed_db(self, prefix: bytes) -> "PrefixedDB":
        """The keys that begin with the prefix, without it."""
        return PrefixedDB(self.db, self._prefix + prefix)


class PrefixedDB(_Writer):
    """The part of a database whose keys begin with a prefix; the prefix is not seen."""

    def __init__(self, db: "DB", prefix: bytes) -> None:
        self.db = db
        self.prefix = prefix
        self._prefix = prefix
        self._source = db._store


# LevelDB's choices and the library's, as the library's.
_COMPRESSIONS = {None: "none", "none": "none", "lz4": "lz4", "snappy": None}


def _compression_of(choice: Any) -> Optional[str]:
    """The library's option."""
    text = choice.decode("ascii", "replace") if isinstance(choice, bytes) else choice
    if text is not None and not isinstance(text, str):
        raise TypeError(f"compression is a text or None, not {type(choice)}")
    if text not in _COMPRESSIONS:
        raise ValueError(f"compression: {choice!r} is not one of snappy, lz4, none and None")
    return _COMPRESSIONS[text]


class DB(_Writer):
    """A database in a directory."""

    def __init__(self, name: Path, *, create_if_missing: bool = False, error_if_exists: bool = False,
                 paranoid_checks: Optional[bool] = None, write_buffer_size: Optional[int] = None,
                 max_open_files: Optional[int] = None, lru_cache_size: Optional[int] = None,
                 block_size: Optional[int] = None, block_restart_interval: Optional[int] = None,
                 max_file_size: Optional[int] = None, compression: Optional[str] = "snappy",
                 bloom_filter_bits: int = 0, comparator: Any = None, comparator_name: Optional[bytes] = None) -> None:
        del paranoid_checks, comparator_name
        if comparator is not None:
            raise NotImplementedError("bloomblock's Python module orders keys bytewise only")
        options = {
            "create_if_missing": create_if_missing, "error_if_exists": error_if_exists,
            "write_buffer_bytes": write_buffer_size and max(write_buffer_size, 64 << 10),
            "open_tables_max": max_open_files and max(max_open_files, 16), "cache_bytes": lru_cache_size,
            "block_size_bytes": block_size, "restart_interval": block_restart_interval,
            "table_size_bytes": max_file_size,
            "filter_amount": ("bits-per-key", bloom_filter_bits) if bloom_filter_bits else None,
            "compression": _compression_of(compression)}
        self.name = name
        self.db = self
        with _TRANSLATED:
            self._store = self._source = _native.Store(name, **options)

    @property
    def closed(self) -> bool:
        """Whether the database is closed."""
        return self._store.closed

    def close(self) -> None:
        """Closes the database, its iterators and its snapshots."""
        with _TRANSLATED:
            self._store.close()

    def get_property(self, name: bytes) -> Optional[bytes]:
        """None: the library has Store.stats() instead."""
        del name
        return None

    def compact_range(self, *, start: Optional[bytes] = None, stop: Optional[bytes] = None) -> None:
        """Compacts a range."""
        with _TRANSLATED:
            self._store.compact(start, stop)

    def approximate_size(self, start: bytes, stop: bytes) -> int:
        """Bytes of a range in tables."""
        with _TRANSLATED:
            return self._store.approximate_size(start, stop)["file_bytes"]

    def approximate_sizes(self, *ranges: Tuple[bytes, bytes]) -> List[int]:
        """Bytes of ranges in tables."""
        return [self.approximate_size(start, stop) for start, stop in ranges]

    def __enter__(self) -> "DB":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def repair_db(name: Union[str, bytes], **options: Any) -> None:
    """Makes a damaged database usable from its readable parts."""
    del options
    with _TRANSLATED:
        _native.repair(name)


def destroy_db(name: Union[str, bytes]) -> None:
    """Removes a database."""
    with _TRANSLATED:
        try:
            _native.destroy(name)
        except errors.NotFoundError:
            pass
