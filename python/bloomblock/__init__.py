"""bloomblock: an embedded key-value store with a filter for every block, and separate filters.

    import bloomblock

    with bloomblock.open("words") as store:
        store[b"bloom"] = b"block"
        print(store.get(b"bloom"))
        for key, value in store.items(prefix=b"b"):
            ...

docs/python.md of bloomblock is the manual. bloomblock.plyvel has the interface of plyvel.
"""
from . import errors
from ._native import (Cursor, Filter, FilterBuilder, Scan, Selection, Snapshot, __version__, destroy, plan,
                      random_secret, repair, verify)
from .errors import (BusyError, CorruptError, Error, ExistsError, InputOutputError, InvalidError, NoMemoryError,
                     NoSpaceError, NotFoundError, ReadOnlyError, TooLargeError, UnsupportedError)
from .store import Batch, Store, open  # pylint: disable=redefined-builtin

__all__ = ["Batch", "BusyError", "CorruptError", "Cursor", "Error", "ExistsError", "Filter", "FilterBuilder",
           "InputOutputError", "InvalidError", "NoMemoryError", "NoSpaceError", "NotFoundError", "ReadOnlyError",
           "Scan", "Selection", "Snapshot", "Store", "TooLargeError", "UnsupportedError", "__version__", "destroy",
           "errors", "open", "plan", "random_secret", "repair", "verify"]
