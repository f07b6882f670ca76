"""Exceptions: a class for each status of the library (enum bb_status in <bb/base.h>).

The text of an exception is the library's message: the cause, the file and the offset. Some classes
are also Python's own, so that code which expects these works.
"""
from __future__ import annotations

from typing import List, Optional, Type

__all__ = ["Error", "NotFoundError", "CorruptError", "InputOutputError", "NoSpaceError", "NoMemoryError",
           "InvalidError", "TooLargeError", "BusyError", "UnsupportedError", "ExistsError", "ReadOnlyError"]


class Error(Exception):
    """A call into the library failed."""


class NotFoundError(Error, LookupError):
    """The store, the file or the object does not exist. (An absent key is a KeyError.)"""


class CorruptError(Error):
    """The bytes of a file are not valid."""


class InputOutputError(Error, OSError):
    """The operating system reported an error."""


class NoSpaceError(InputOutputError):
    """The disk or a quota is full."""


class NoMemoryError(Error, MemoryError):
    """An allocation failed."""


class InvalidError(Error, ValueError):
    """The arguments are wrong, or the object is closed."""


class TooLargeError(Error, ValueError):
    """A documented limit is exceeded."""


class BusyError(Error):
    """Another user holds the resource: another process the store, or another thread the object."""


class UnsupportedError(Error):
    """Valid, but not supported by this version or this kind."""


class ExistsError(Error):
    """The object already exists."""


class ReadOnlyError(Error):
    """Writing is not possible: opened read-only, or writes stopped after a failure."""


# By the value of enum bb_status; the extension module reads this list.
BY_STATUS: List[Optional[Type[Error]]] = [
    None, NotFoundError, CorruptError, InputOutputError, NoSpaceError, NoMemoryError, InvalidError, TooLargeError,
    BusyError, UnsupportedError, ExistsError, ReadOnlyError]
