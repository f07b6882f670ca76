"""The example fetchers: every page is fetched once, by any number of fetchers, in a server and in a
cluster, and killed fetchers lose no page."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from ports import free_port
from server import MODULE, PRELOAD, SKIPPED, Server, main

PROGRAM = os.path.join(os.path.dirname(MODULE or "."), "examples", "example_fetchers")
PAGES = 1000
PARTITIONS = 8


class Fetchers(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="bb-fetchers.")
        self.addCleanup(shutil.rmtree, self.directory)

    def server(self, port, **options):
        directory = os.path.join(self.directory, str(port))
        os.mkdir(directory)
        server = Server(directory, port=port, bind="127.0.0.1", **options).start()
        self.addCleanup(server.kill)
        return server

    def command(self, port, fetchers):
        return [PROGRAM, f"127.0.0.1:{port}", str(PAGES), str(fetchers), str(PARTITIONS)]

    def crawl(self, port, fetchers):
        """(pages fetched, URLs claimed, URLs seen)"""
        done = subprocess.run(self.command(port, fetchers), capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return tuple(map(int, re.search(r"(\d+) fetched, (\d+) URLs claimed, (\d+) seen", done.stdout).groups()))

    def test_every_page_is_fetched_once(self):
        port = free_port()
        self.server(port)
        self.assertEqual(self.crawl(port, 3), (PAGES, PAGES, PAGES))
        self.assertEqual(self.crawl(port, 3), (0, 0, PAGES))

    def test_nodes_of_a_cluster_are_found(self):
        """Two masters; the program knows one of them."""
        ports = [free_port() for _ in range(2)]
        servers = [self.server(port, cluster_enabled="yes") for port in ports]
        half = [(0, 8191), (8192, 16383)]
        for server, (first, last) in zip(servers, half):
            with server.client() as client:
                client("CLUSTER", "ADDSLOTSRANGE", first, last)
                client("CLUSTER", "MEET", "127.0.0.1", ports[0])
        end = time.monotonic() + 60
        while time.monotonic() < end and not all(self.is_complete(server) for server in servers):
            time.sleep(0.05)
        self.assertEqual(self.crawl(ports[0], 2), (PAGES, PAGES, PAGES))
        for server in servers:
            with server.client() as client:
                self.assertGreater(client("DBSIZE"), 0)

    @staticmethod
    def is_complete(server):
        with server.client() as client:
            return b"cluster_state:ok" in client("CLUSTER", "INFO")

    def test_killed_fetchers_lose_no_page(self):
        port = free_port()
        server = self.server(port)
        with subprocess.Popen(self.command(port, 3), stdout=subprocess.DEVNULL, start_new_session=True) as crawler:
            with server.client() as client:
                while client("DBSIZE") < PARTITIONS:
                    time.sleep(0.001)
            os.killpg(crawler.pid, signal.SIGKILL)
        fetched, claimed, seen = self.crawl(port, 3)
        self.assertEqual(seen, PAGES)
        self.assertLessEqual(claimed, fetched)
        self.assertLess(claimed, PAGES)


if __name__ == "__main__":
    if PRELOAD != "-" or not os.path.exists(PROGRAM):
        print("skipped: the example is not built, or built with sanitizers")
        sys.exit(SKIPPED)
    main()
