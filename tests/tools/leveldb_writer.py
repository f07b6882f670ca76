"""Stores of LevelDB, written through its own C library. Without it the tests are skipped."""
import ctypes
import ctypes.util

COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t,
                           ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
NAME = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
DESTROY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def library():
    """The library, or None."""
    name = ctypes.util.find_library("leveldb")
    if name is None:
        return None
    found = ctypes.CDLL(name)
    for function in ("leveldb_open", "leveldb_options_create", "leveldb_writeoptions_create",
                     "leveldb_comparator_create", "leveldb_filterpolicy_create_bloom"):
        getattr(found, function).restype = ctypes.c_void_p
    return found


class Writer:
    """A store that is open; close it before it is imported."""

    def __init__(self, path, compression=0, comparator=None, bloom=False):
        self.library = library()
        self.error = ctypes.c_char_p()
        self.keep = []
        options = ctypes.c_void_p(self.library.leveldb_options_create())
        self.library.leveldb_options_set_create_if_missing(options, ctypes.c_ubyte(1))
        self.library.leveldb_options_set_write_buffer_size(options, ctypes.c_size_t(64 * 1024))
        self.library.leveldb_options_set_compression(options, compression)
        if bloom:
            policy = ctypes.c_void_p(self.library.leveldb_filterpolicy_create_bloom(10))
            self.library.leveldb_options_set_filter_policy(options, policy)
        if comparator is not None:
            self.library.leveldb_options_set_comparator(options, self.comparator(comparator))
        self.write_options = ctypes.c_void_p(self.library.leveldb_writeoptions_create())
        self.db = ctypes.c_void_p(self.library.leveldb_open(options, path.encode(), ctypes.byref(self.error)))
        self.check()

    def comparator(self, name):
        text = ctypes.create_string_buffer(name.encode())

        def compare(_, a, a_size, b, b_size):
            left, right = a[:a_size], b[:b_size]
            return (left < right) - (left > right)

        parts = (DESTROY(lambda _: None), COMPARE(compare), NAME(lambda _: ctypes.addressof(text)))
        self.keep += [text, parts]
        return ctypes.c_void_p(self.library.leveldb_comparator_create(None, *parts))

    def check(self):
        if self.error.value is not None:
            raise OSError(self.error.value.decode())

    def put(self, key, value):
        self.library.leveldb_put(self.db, self.write_options, key, ctypes.c_size_t(len(key)), value,
                                 ctypes.c_size_t(len(value)), ctypes.byref(self.error))
        self.check()

    def delete(self, key):
        self.library.leveldb_delete(self.db, self.write_options, key, ctypes.c_size_t(len(key)),
                                    ctypes.byref(self.error))
        self.check()

    def compact(self):
        self.library.leveldb_compact_range(self.db, None, ctypes.c_size_t(0), None, ctypes.c_size_t(0))

    def close(self):
        self.library.leveldb_close(self.db)
