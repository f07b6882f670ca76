"""Writes that wait while an administrator pauses writes, as fail-overs and the end of a server do.

The server ends itself if a change is propagated during a pause, so the AOF is on here: a server
without AOF and replicas propagates nothing."""
import os
import time

from server import ServerTest, main

PAUSE_MS = 300
ATTEMPTS = 50


class Pause(ServerTest):
    OPTIONS = {"appendonly": "yes", "appendfsync": "no"}

    def write_in_a_pause(self, commands):
        """All replies, of one client per command, and whether some waited for the end of the pause.
        It begins while most commands wait, unless this process is slow.
        """
        writers = [self.server.client() for _ in commands]
        for writer, command in zip(writers, commands):
            writer.send(*command)
        self.redis("CLIENT", "PAUSE", PAUSE_MS, "WRITE")
        end = time.monotonic() + PAUSE_MS / 1000
        replies = [writer.read() for writer in writers]
        for writer in writers:
            writer.close()
        return replies, time.monotonic() >= end - 0.01

    def write_until_paused(self, commands_of):
        """Repeats the commands of an attempt until a pause held some of them back."""
        for attempt in range(ATTEMPTS):
            commands = commands_of(attempt)
            replies, is_held_back = self.write_in_a_pause(commands)
            self.assertEqual(replies, ["OK"] * len(commands))
            if is_held_back:
                return attempt
        raise AssertionError(f"no pause of {ATTEMPTS} held a write back")

    def test_stores_that_are_created_during_a_pause(self):
        last = self.write_until_paused(lambda attempt: [("BB.PUT", f"s{attempt}.{i}", "field", i) for i in range(4)])
        self.assertEqual(self.redis("BB.GET", f"s{last}.3", "field"), b"3")

    def test_writes_that_wait_for_space_during_a_pause(self):
        self.redis("BB.CREATE", "s", "BUFFER", 65536)
        value = os.urandom(60000)
        self.write_until_paused(lambda attempt: [("BB.PUT", "s", i, value) for i in range(30)])
        self.assertEqual(self.redis("BB.LEN", "s", "EXACT"), 30)


if __name__ == "__main__":
    main()
