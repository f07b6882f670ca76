"""SIGKILL at random moments: no acknowledged write is lost, synced or not. The store always opens.

Method: the loader acknowledges each record after its commit (load --ack). It is killed after a
random time, while it writes, flushes and compacts. Then the store is verified, read whole and
loaded again; the next kill often hits the recovery. Keys are partly new and partly overwritten, and
values count upwards: a key must show its last acknowledged value, or a later value that was sent
before the kill. BB_KILLS sets the number of kills (20), BB_TEST_SEED the seed.
"""
import os
import signal
import subprocess
import threading
import time

from tool import BINARY, ToolTest, main, test_random

KILLS = int(os.environ.get("BB_KILLS", "20"))
ROUNDS_PER_STORE = 8
HOT_KEYS = 500


class Loader:
    """A loader that is fed without end and gives its acknowledgements back when it is killed."""

    def __init__(self, store, options, first_line):
        self.process = subprocess.Popen([BINARY, "load", store, "--tsv", "--ack", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.sent = []
        self.next_value = first_line
        self.acknowledged = 0
        self.is_acknowledging = threading.Event()
        self.feeder = threading.Thread(target=self.feed)
        self.listener = threading.Thread(target=self.listen)
        self.feeder.start()
        self.listener.start()

    def feed(self):
        try:
            while True:
                lines = []
                for _ in range(200):
                    value = self.next_value
                    self.next_value += 1
                    key = f"hot-{value % HOT_KEYS}" if value % 3 == 0 else f"new-{value}"
                    self.sent.append((key, value))
                    lines.append(f"{key}\t{value}{'.' * (value % 90)}\n")
                self.process.stdin.write("".join(lines).encode())
                self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass

    def listen(self):
        # A line that was cut off by the kill was not delivered, and counts as not acknowledged.
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                self.acknowledged += 1
                self.is_acknowledging.set()
        self.is_acknowledging.set()

    def kill(self):
        """Acknowledged and merely sent records, as lists of (key, value)."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=60)
        self.listener.join()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.feeder.join()
        error = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return self.sent[:self.acknowledged], self.sent[self.acknowledged:], error


class Kill(ToolTest):
    def check(self, acknowledged, sent):
        """Every key shows its last acknowledged value, or a value sent after it."""
        self.ok("verify", self.store)
        present = {}
        for line in self.ok("scan", self.store).lines:
            key, value = line.split("\t")
            present[key] = int(value.rstrip("."))
        for key, value in acknowledged.items():
            self.assertIn(key, present, "an acknowledged key is lost")
            self.assertGreaterEqual(present[key], value, f"{key}: an acknowledged value is lost")
            self.assertIn(present[key], sent[key], f"{key}: a value that nobody wrote")
        for key, value in present.items():
            self.assertIn(value, sent[key], f"{key}: a value that nobody wrote")

    def options(self, rng):
        options = ["--write-buffer", rng.choice(["64K", "128K", "1M"]), "--batch", str(rng.choice([1, 7, 100]))]
        if rng.random() < 0.25:
            options.append("--sync")
        if rng.random() < 0.2:
            options.append("--deterministic")
        return options

    def test_killing_the_loader_loses_nothing_acknowledged(self):
        rng = test_random()
        acknowledged, sent, total = {}, {}, 0
        value = 0
        for kill in range(KILLS):
            if kill % ROUNDS_PER_STORE == 0:
                self.store = self.path(f"store{kill}")
                acknowledged, sent = {}, {}
            loader = Loader(self.store, self.options(rng), value)
            # Some kills fall before the first acknowledgement: into creation and recovery.
            if rng.random() < 0.8:
                loader.is_acknowledging.wait(timeout=60)
            time.sleep(rng.random() ** 2 * 0.4)
            done, under_way, error = loader.kill()
            for line in error.splitlines():
                self.assertIn(" note: ", line, "the loader reported a failure")
            value = loader.next_value
            for key, number in done:
                acknowledged[key] = number
            for key, number in done + under_way:
                sent.setdefault(key, set()).add(number)
            total += len(done)
            if done or os.path.exists(os.path.join(self.store, "CURRENT")):
                self.check(acknowledged, sent)
        print(f"{KILLS} kills, {total} acknowledged records, none lost")
        self.assertGreater(total, KILLS)


if __name__ == "__main__":
    main()
