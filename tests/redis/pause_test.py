"""Writes that wait while an administrator pauses writes, as fail-overs and the end of a server do.

The server ends itself if a change is propagated during a pause, so the AOF is on here: a server
without AOF and replicas propagates nothing."""
import os
import time

from server import ServerTest, main

PAUSE_MS = 300


class Pause(ServerTest):
    OPTIONS = {"appendonly": "yes", "appendfsync": "no"}

    def write_in_a_pause(self, commands):
        """All replies, of one client per command. The pause begins while most of them wait."""
        writers = [self.server.client() for _ in commands]
        for writer in writers:
            self.addCleanup(writer.close)
        for writer, command in zip(writers, commands):
            writer.send(*command)
        self.redis("CLIENT", "PAUSE", PAUSE_MS, "WRITE")
        end = time.monotonic() + PAUSE_MS / 1000
        replies = [writer.read() for writer in writers]
        self.assertGreaterEqual(time.monotonic(), end - 0.01)
        return replies

    def test_stores_that_are_created_during_a_pause(self):
        commands = [("BB.PUT", f"s{i}", "field", i) for i in range(4)]
        self.assertEqual(self.write_in_a_pause(commands), ["OK"] * 4)
        self.assertEqual(self.redis("BB.GET", "s3", "field"), b"3")

    def test_writes_that_wait_for_space_during_a_pause(self):
        self.redis("BB.CREATE", "s", "BUFFER", 65536)
        value = os.urandom(60000)
        commands = [("BB.PUT", "s", i, value) for i in range(30)]
        self.assertEqual(self.write_in_a_pause(commands), ["OK"] * 30)
        self.assertEqual(self.redis("BB.LEN", "s", "EXACT"), 30)


if __name__ == "__main__":
    main()
