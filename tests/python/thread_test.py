#!/usr/bin/env python3
"""Threads and processes: concurrent calls, closing during calls, objects of two threads, fork."""
import os
import signal
import sys
import threading
import time
import unittest

import bloomblock
from module_case import ModuleCase

try:
    import _interpreters as interpreters  # since 3.13
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = None

IMPORTS = """
try:
    import bloomblock
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("bloomblock was imported")
"""


class ThreadTest(ModuleCase):

    def run_threads(self, functions):
        failures = []

        def guarded(function):
            try:
                function()
            except BaseException as error:  # pylint: disable=broad-except
                failures.append(error)
        threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
        for thread in threads:
            thread.start()
        return threads, failures

    @unittest.skipUnless(sys.version_info >= (3, 12), "classes have no __buffer__")
    def test_a_batch_that_another_thread_writes_takes_nothing(self):
        """Its state was checked before a __buffer__ ran, which may start such a thread."""
        store, batch = self.open(), bloomblock.Batch()
        for number in range(200000):
            batch.put(b"%06d" % number, bytes(20))
        threads = []

        class Late:
            def __buffer__(self, flags):
                threads.append(threading.Thread(target=lambda: store.write(batch, sync=True)))
                threads[-1].start()
                time.sleep(0.01)
                return memoryview(b"late")
        for _ in range(20):  # until the thread writes at the moment of the check
            try:
                batch.put(Late(), b"")
            except bloomblock.BusyError:
                break
            finally:
                threads[-1].join()
        else:
            self.fail("a batch that another thread writes was changed")

    def test_threads_write_and_read_at_the_same_time(self):
        store = self.open(write_buffer_bytes=1 << 16)

        def write(number):
            for index in range(800):
                store[b"%d %05d" % (number, index)] = bytes(50)
                if index % 100 == 0:
                    self.assertEqual(sum(1 for _ in store.keys(prefix=b"%d " % number)), index + 1)
        threads, failures = self.run_threads([lambda number=number: write(number) for number in range(4)])
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(sum(1 for _ in store), 3200)

    def test_closing_waits_for_calls_and_ends_later_ones(self):
        store = self.open(write_buffer_bytes=1 << 16)
        store.update((b"%06d" % number, bytes(100)) for number in range(2000))

        def read():
            while True:
                list(store.items())
                store.get_many([b"%06d" % number for number in range(0, 2000, 7)])
                with store.snapshot() as snapshot:
                    snapshot.get(b"000001")
                store[b"x"] = b""
        threads, failures = self.run_threads([read] * 4)
        time.sleep(0.1)
        store.close()
        for thread in threads:
            thread.join()
        self.assertEqual([type(failure) for failure in failures], [bloomblock.InvalidError] * 4, failures)
        self.assertGreaterEqual(sum(1 for _ in self.open()), 2000)

    def test_a_cursor_of_two_threads_is_refused_and_not_damaged(self):
        store = self.open()
        store.update((b"%06d" % number, bytes(10)) for number in range(3000))
        scan, seen, busy = iter(store), [], []

        def read():
            while True:
                try:
                    seen.append(next(scan))
                except StopIteration:
                    return
                except bloomblock.BusyError:
                    busy.append(1)
        threads, failures = self.run_threads([read] * 3)
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(set(seen)), 3000)

    @unittest.skipIf(interpreters is None, "Python has no module for interpreters")
    def test_a_second_interpreter_cannot_import_the_module(self):
        """Regression: it could, and then no exception had the class of its module."""
        for _ in range(2):
            interpreter = interpreters.create()
            self.assertIsNone(interpreters.run_string(interpreter, IMPORTS))
            interpreters.destroy(interpreter)
        with self.assertRaises(bloomblock.NotFoundError):
            bloomblock.Store(self.path("absent"))

    def child_status(self, function):
        """The exit status of a forked child that runs the function."""
        child = os.fork()
        if child == 0:
            try:
                function()
                os._exit(0)
            except BaseException as error:  # pylint: disable=broad-except
                print(repr(error), flush=True)
                os._exit(1)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status
            time.sleep(0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "hangs"

    def test_a_forked_child_is_refused_and_may_close(self):
        store = self.open()
        store[b"a"] = b"1"
        scan, snapshot = iter(store), store.snapshot()

        def use():
            for function in (lambda: store.get(b"a"), lambda: store.put(b"b", b"2"), store.flush):
                with self.assertRaises(bloomblock.InvalidError):
                    function()
            snapshot.close()
            scan.close()
            store.close()
        self.assertEqual(self.child_status(use), 0)
        self.assertEqual(next(scan), b"a")
        store[b"c"] = b"3"
        self.assertEqual(sorted(store), [b"a", b"c"])

    def test_a_forked_child_is_refused_by_every_method(self):
        """Regression: stats() returned zeros there, and clear_cache() None."""
        store = self.open()
        calls = [store.count, store.cursor, store.items, store.select, store.snapshot,
                 lambda: store.get_many([b"a"]), lambda: b"a" in store, lambda: store.checkpoint(self.path("copy"))]
        calls += [getattr(store, name) for name in (
            "approximate_size", "attributes", "clear_cache", "compact", "events", "flush", "indexes",
            "materialize_indexes", "refresh", "stats", "tables", "wait_idle")]

        def use():
            for call in calls:
                with self.assertRaises(bloomblock.InvalidError, msg=str(call)):
                    call()
        self.assertEqual(self.child_status(use), 0)

    def test_a_child_forked_during_calls_can_close(self):
        store = self.open(write_buffer_bytes=1 << 16)
        ends = threading.Event()

        def work():
            while not ends.is_set():
                store.update((b"%06d" % number, bytes(100)) for number in range(300))
                list(store.items())
        threads, failures = self.run_threads([work] * 2)
        statuses = [self.child_status(store.close) for _ in range(10)]
        ends.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(statuses, [0] * 10)
        self.assertEqual(sum(1 for _ in store), 300)


if __name__ == "__main__":
    unittest.main()
