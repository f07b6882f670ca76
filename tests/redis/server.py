"""Shared by the tests of the Redis module: servers with the module, and their clients.

A test is a script called as  X_test.py MODULE PRELOAD [unittest arguments], where PRELOAD has the
libraries of a sanitizer that the server loads first, with ":" between them, or is "-". Without
redis-server 7 the script prints that it is skipped, and ends with status 77.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from program import unfit
from resp import Client, Refused

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from share import SharedLoader  # noqa: E402

MODULE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
PRELOAD = sys.argv[2] if len(sys.argv) > 2 else "-"
SKIPPED = 77
START_SECONDS = 60


def environment(preload, more):
    """Of the server, which leaks memory at its end by design."""
    variables = dict(os.environ)
    variables.update(more)
    libraries = [PRELOAD] * (PRELOAD != "-") + list(preload)
    if libraries:
        variables["LD_PRELOAD"] = ":".join(libraries)
    if PRELOAD != "-":
        options = [variables.get("ASAN_OPTIONS", ""), "detect_leaks=0", "allocator_may_return_null=1",
                   "verify_asan_link_order=0"]  # allocation_gate.c is before it
        variables["ASAN_OPTIONS"] = ":".join(filter(None, options))
    return variables


class Server:
    """A redis-server with the module, on a unix socket in its directory. Options as in
    redis.conf: Server(directory, appendonly="yes"). A second start() finds the files of the first.
    With the option port, it listens on loopback too. wrapper: a command that starts the server.
    preload: libraries that it loads first. variables: of its environment."""

    def __init__(self, directory, module=MODULE, module_arguments=(), wrapper=(), preload=(), variables=None,
                 **options):
        self.directory = directory
        self.preload = preload
        self.variables = variables or {}
        self.module = module
        self.module_arguments = module_arguments
        self.wrapper = list(wrapper)
        self.options = {"port": 0, "save": "", "daemonize": "no", "enable-debug-command": "yes",
                        "enable-module-command": "yes", "loglevel": "notice"}
        self.options.update({name.replace("_", "-"): value for name, value in options.items()})
        self.socket = os.path.join(directory, "redis.sock")
        self.log_path = os.path.join(directory, "redis.log")
        self.process = None

    def command_line(self):
        line = [*self.wrapper, "redis-server", "--dir", self.directory, "--unixsocket", self.socket]
        for name, value in self.options.items():
            line += [f"--{name}", str(value)]
        if self.module is not None:
            line += ["--loadmodule", self.module, *self.module_arguments]
        return line

    def launch(self):
        """Starts the process without waiting for it."""
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command_line(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=environment(self.preload, self.variables))

    def start(self):
        self.launch()
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"redis-server ended with status {self.process.returncode}:\n{self.log()}")
            try:
                with Client(self.socket) as client:
                    client("PING")
                return self
            except (OSError, Refused):  # not listening yet, or loading
                time.sleep(0.01)
        raise RuntimeError(f"redis-server does not answer after {START_SECONDS} s:\n{self.log()}")

    def client(self, resp=2):
        return Client(self.socket, resp)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def kill(self):
        """As a crash: nothing is saved."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        self.wait()

    def stop(self):
        """As an administrator does: the server saves, if it is configured to."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
        return self.wait()

    def wait(self):
        return self.process.wait(timeout=START_SECONDS) if self.process is not None else None


class ServerTest(unittest.TestCase):
    """One server for the tests of a class, empty at the start of each. self.redis is a client,
    self.resp3 one of the newer protocol."""

    OPTIONS = {}

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="bb-redis.")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.server = Server(cls.directory, **cls.OPTIONS).start()
        cls.addClassCleanup(cls.end)
        cls.redis = cls.server.client()
        cls.addClassCleanup(cls.redis.close)
        cls.resp3 = cls.server.client(resp=3)
        cls.addClassCleanup(cls.resp3.close)

    @classmethod
    def end(cls):
        status = cls.server.stop()
        log = cls.server.log()
        if status != 0 or "Sanitizer" in log or "runtime error" in log or "bloomblock bug" in log:
            raise AssertionError(f"redis-server ended with status {status}:\n{log[-20000:]}")

    def setUp(self):
        self.redis("FLUSHALL")

    def refused(self, *command):
        """The text of the error that the command gets."""
        with self.assertRaises(Refused, msg=command) as caught:
            self.redis(*command)
        return str(caught.exception)

    def path(self, name):
        return os.path.join(self.directory, name)


def main():
    if MODULE is None:
        sys.exit(f"usage: {sys.argv[0]} MODULE PRELOAD")
    reason = unfit()
    if reason is not None:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(testLoader=SharedLoader(), argv=[sys.argv[0], *sys.argv[3:]])
