"""A parent as in tests/fork/bindings_test.py, in Python: ctypes, and finalizers that run when the
interpreter ends.

    parent.py LIBRARY STORE CHILD END BEFORE AFTER
"""
import ctypes
import os
import signal
import sys
import weakref

LIBRARY = ctypes.CDLL(sys.argv[1])
for name in ("options_create", "open", "writeoptions_create", "readoptions_create", "create_iterator", "get"):
    getattr(LIBRARY, "leveldb_" + name).restype = ctypes.c_void_p


def pointer(address):
    return ctypes.c_void_p(address)


class Store:
    """Closed when it is collected, and at the end of the interpreter at the latest."""

    def __init__(self, path):
        options = pointer(LIBRARY.leveldb_options_create())
        LIBRARY.leveldb_options_set_create_if_missing(options, ctypes.c_ubyte(1))
        LIBRARY.leveldb_options_set_write_buffer_size(options, ctypes.c_size_t(64 * 1024))
        self.writing = pointer(LIBRARY.leveldb_writeoptions_create())
        LIBRARY.leveldb_writeoptions_set_sync(self.writing, ctypes.c_ubyte(1))
        self.reading = pointer(LIBRARY.leveldb_readoptions_create())
        error = ctypes.c_char_p()
        self.handle = pointer(LIBRARY.leveldb_open(options, path.encode(), ctypes.byref(error)))
        if error.value:
            sys.exit(error.value.decode())
        self.close = weakref.finalize(self, LIBRARY.leveldb_close, self.handle)

    def put(self, row):
        """None, or the error."""
        key, value, error = b"row-%06d" % row, b"value %d " % row * 20, ctypes.c_char_p()
        LIBRARY.leveldb_put(self.handle, self.writing, key, ctypes.c_size_t(len(key)), value,
                            ctypes.c_size_t(len(value)), ctypes.byref(error))
        return error.value

    def get(self, row):
        """The value, or None; errors end the process."""
        key, size, error = b"row-%06d" % row, ctypes.c_size_t(), ctypes.c_char_p()
        found = LIBRARY.leveldb_get(self.handle, self.reading, key, ctypes.c_size_t(len(key)), ctypes.byref(size),
                                    ctypes.byref(error))
        if error.value:
            sys.exit(error.value.decode())
        if found is None:
            return None
        value = ctypes.string_at(found, size.value)
        LIBRARY.leveldb_free(pointer(found))
        return value


class Iterator:
    """Destroyed as the store is, in no order."""

    def __init__(self, store):
        self.handle = pointer(LIBRARY.leveldb_create_iterator(store.handle, store.reading))
        LIBRARY.leveldb_iter_seek_to_first(self.handle)
        self.destroy = weakref.finalize(self, LIBRARY.leveldb_iter_destroy, self.handle)


def be_child(kind, store):
    """The finalizers do the rest when the interpreter ends."""
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "execs":
        os.execv("/bin/true", ["true"])
    if kind == "uses" and b"fork" not in (store.put(0) or b""):
        sys.exit("a put of a child was not refused")
    if kind == "closes":
        store.close()
    sys.exit(0)


def main():
    path, kind, end, before, after = sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), int(sys.argv[6])
    store = Store(path)
    for row in range(before):
        if store.put(row):
            sys.exit("a put failed")
    iterator = Iterator(store)
    child = os.fork()
    if child == 0:
        be_child(kind, store)
    status = os.waitpid(child, 0)[1]
    if status != (signal.SIGKILL if kind == "killed" else 0):
        sys.exit(f"the child's status is {status}")
    for row in range(before, before + after):
        if store.put(row):
            sys.exit("a put failed")
    print("done", flush=True)
    if end == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    del iterator


if __name__ == "__main__":
    main()
