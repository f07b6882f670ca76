"""Commands with several keys in a cluster: all keys decide the slot, as for Redis' own commands.

Method: two nodes, of which one has all slots, and one slot that moves to the other."""
import os
import tempfile
import time
import unittest

from partition import slot_of
from ports import free_port
from resp import Refused
from server import Server, main

WAIT_SECONDS = 60
SOURCE, TARGET, ELSEWHERE = "{1}source", "{1}target", "{2}source"
SLOT = slot_of(b"{1}")


def commands(source):
    return [("CMS.MERGE", TARGET, 1, source), ("CMS.MERGE", TARGET, 2, TARGET, source, "WEIGHTS", 1, 1),
            ("BB.FILTER.UNION", TARGET, 1, source), ("BB.FILTER.UNION", TARGET, 2, TARGET, source),
            ("BB.FILTER.BUILDFROM", TARGET, 0.01, source)]


class Slots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="bb-redis.")
        cls.addClassCleanup(directory.cleanup)
        cls.nodes = [cls.start(os.path.join(directory.name, name)) for name in ("first", "second")]
        first = cls.nodes[0]
        first("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        first("CLUSTER", "MEET", "127.0.0.1", cls.ports[1])
        cls.ids = [node("CLUSTER", "MYID").decode() for node in cls.nodes]
        cls.wait_for(lambda: all("cluster_state:ok" in node("CLUSTER", "INFO").decode() for node in cls.nodes))
        cls.wait_for(lambda: cls.ids[1] in first("CLUSTER", "NODES").decode())

    ports = []

    @classmethod
    def start(cls, directory):
        os.mkdir(directory)
        cls.ports.append(free_port())
        server = Server(directory, port=cls.ports[-1], bind="127.0.0.1", cluster_enabled="yes",
                        cluster_node_timeout=5000, appendonly="no").start()
        cls.addClassCleanup(server.kill)
        client = server.client()
        cls.addClassCleanup(client.close)
        return client

    @staticmethod
    def wait_for(is_done):
        end = time.monotonic() + WAIT_SECONDS
        while not is_done():
            if time.monotonic() > end:
                raise AssertionError("the nodes do not become a cluster")
            time.sleep(0.02)

    def setUp(self):
        for node in self.nodes:
            node("CLUSTER", "SETSLOT", SLOT, "STABLE")
            node("FLUSHALL")

    def refused(self, *command, node=0):
        with self.assertRaises(Refused, msg=command) as caught:
            self.nodes[node](*command)
        return str(caught.exception)

    def create(self, command, *keys):
        """The keys that the command takes."""
        for key in keys:
            if command == "CMS.MERGE":
                self.nodes[0]("CMS.INITBYDIM", key, 10, 2)
            elif command == "BB.FILTER.UNION" or key == TARGET:
                self.nodes[0]("BB.FILTER.BUILD", key, 0.01, "a")
            else:
                self.nodes[0]("SADD", key, "a")

    def begin_to_move_the_slot(self):
        self.nodes[0]("CLUSTER", "SETSLOT", SLOT, "MIGRATING", self.ids[1])
        self.nodes[1]("CLUSTER", "SETSLOT", SLOT, "IMPORTING", self.ids[0])

    def move(self, key):
        self.assertEqual(self.nodes[0]("MIGRATE", "127.0.0.1", self.ports[1], key, 0, 10000), "OK")

    def test_source_in_another_slot_of_the_node_is_refused(self):
        """Merges and filters of members were made across slots."""
        for command in commands(ELSEWHERE):
            self.setUp()
            self.create(command[0], TARGET, ELSEWHERE)
            self.assertTrue(self.refused(*command).startswith("CROSSSLOT"), command)

    def test_absent_source_in_another_slot_is_refused_as_such(self):
        for command in commands(ELSEWHERE):
            self.assertTrue(self.refused(*command).startswith("CROSSSLOT"), command)

    def test_keys_of_a_moving_slot(self):
        for command in commands(SOURCE):
            self.setUp()
            self.create(command[0], TARGET, SOURCE)
            self.begin_to_move_the_slot()
            self.nodes[0](*command)
            self.move(SOURCE)
            self.assertTrue(self.refused(*command).startswith("TRYAGAIN"), command)
            self.nodes[1]("ASKING")
            self.assertTrue(self.refused(*command, node=1).startswith("TRYAGAIN"), command)
            self.move(TARGET)
            self.assertEqual(self.refused(*command), f"ASK {SLOT} 127.0.0.1:{self.ports[1]}", command)
            self.nodes[1]("ASKING")
            self.nodes[1](*command)

    def test_script_across_slots_is_refused(self):
        self.create("CMS.MERGE", TARGET, ELSEWHERE)
        script = "return redis.call('CMS.MERGE', KEYS[1], 1, ARGV[1])"
        self.assertIn("Script attempted to access", self.refused("EVAL", script, 1, TARGET, ELSEWHERE))


if __name__ == "__main__":
    main()
