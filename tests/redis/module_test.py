"""Loading, refusing to be loaded or unloaded, and the descriptions of the commands."""
import shutil
import subprocess
import tempfile
import unittest

from server import MODULE, Server, ServerTest, main


class Loading(ServerTest):
    def test_module_is_listed(self):
        # Redis 8 also lists built-in modules.
        self.assertIn(b"bloomblock", [module[1] for module in self.redis("MODULE", "LIST")])

    def test_loading_it_twice_is_refused(self):
        self.assertIn("Error loading the extension", self.refused("MODULE", "LOAD", MODULE))
        self.assertIn("bloomblock: the module is loaded already", self.server.log())
        self.assertEqual(self.redis("PING"), "PONG")

    def test_a_copy_of_it_is_refused(self):
        copy = shutil.copy(MODULE, self.path("copy.so"))
        self.assertIn("Error loading the extension", self.refused("MODULE", "LOAD", copy))

    def test_only_one_function_is_visible(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", MODULE], capture_output=True, text=True, check=True)
        names = {line.split()[-1] for line in listed.stdout.splitlines()}
        self.assertEqual({name for name in names if "san" not in name}, {"RedisModule_OnLoad"})


class Arguments(unittest.TestCase):
    def test_unknown_arguments_are_refused(self):
        with tempfile.TemporaryDirectory(prefix="bb-redis.") as directory:
            server = Server(directory, module_arguments=["nonsense"])
            server.launch()
            self.assertNotEqual(server.wait(), 0)
            self.assertIn("bloomblock: loadmodule takes DIR path", server.log())


class Descriptions(ServerTest):
    def commands(self):
        """{name: COMMAND INFO} of the module's commands."""
        names = [name for name in self.redis("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomblock")]
        return {info[0].decode(): info for info in self.redis("COMMAND", "INFO", *names)}

    def test_every_command_is_described(self):
        documents = self.resp3("COMMAND", "DOCS", *self.commands())
        self.assertEqual(len(documents), len(self.commands()))
        for name, document in documents.items():
            self.assertTrue(document[b"summary"], name)
            self.assertTrue(document[b"arguments"], name)
            self.assertEqual(document[b"module"], b"bloomblock")

    def test_every_command_reads_or_writes(self):
        for name, info in self.commands().items():
            flags = set(info[2])
            self.assertEqual(len(flags & {"readonly", "write"}), 1, name)

    def test_wrong_arity_is_refused_in_the_words_of_redis(self):
        for name, info in self.commands().items():
            self.assertEqual(self.refused(name), f"ERR wrong number of arguments for '{name}' command")
            self.assertGreater(abs(info[1]), 1, name)


class Keys(ServerTest):
    """Of commands with several keys."""

    COMMANDS = {("CMS.MERGE", "d", 2, "a", "b", "WEIGHTS", 1, 2): [b"d", b"a", b"b"],
                ("BB.FILTER.UNION", "d", 1, "a"): [b"d", b"a"], ("BB.FILTER.BUILDFROM", "d", 0.1, "a"): [b"d", b"a"],
                # Commands with mistakes.
                ("CMS.MERGE", "d", "x", "a"): [b"d"], ("CMS.MERGE", "d", -1, "a"): [b"d"],
                ("BB.FILTER.UNION", "d", 3, "a", "b"): [b"d", b"a", b"b"]}

    def test_keys_are_listed(self):
        for command, keys in self.COMMANDS.items():
            self.assertEqual(self.redis("COMMAND", "GETKEYS", *command), keys, command)
            listed = self.redis("COMMAND", "GETKEYSANDFLAGS", *command)
            self.assertEqual([key for key, _ in listed], keys)
            self.assertEqual([flags[0] in ("OW", "RW") for _, flags in listed], [True] + [False] * (len(keys) - 1))

    def test_rights_are_needed_for_each_key(self):
        self.redis("ACL", "SETUSER", "reader", "on", ">secret", "+@all", "%R~*", "~mine")
        self.redis("ACL", "SETUSER", "owner", "on", ">secret", "+@all", "~d", "~a")
        self.addCleanup(self.redis, "ACL", "DELUSER", "reader", "owner")
        with self.server.client() as client:
            for command, keys in self.COMMANDS.items():
                client("AUTH", "reader", "secret")
                refused, passed = client.pipeline([command, (command[0], "mine", *command[2:])])
                self.assertIn("NOPERM", str(refused), command)
                self.assertNotIn("NOPERM", str(passed), command)
                client("AUTH", "owner", "secret")
                reply, = client.pipeline([command])
                self.assertEqual("NOPERM" in str(reply), b"b" in keys, command)


class Plan(ServerTest):
    def test_plan(self):
        plan = self.resp3("BB.FILTER.PLAN", "ribbon", 1000000, 0.01)
        self.assertAlmostEqual(plan["Bits per item"], 6.8, delta=0.1)
        self.assertAlmostEqual(plan["Size"] * 8 / 1e6, plan["Bits per item"], delta=0.01)
        self.assertLessEqual(plan["Predicted rate"], 0.01)
        pairs = self.redis("BB.FILTER.PLAN", "ribbon", 1000000, 0.01)
        self.assertEqual(pairs[:2], ["Size", plan["Size"]])

    def test_mistakes(self):
        self.assertIn("rate", self.refused("BB.FILTER.PLAN", "ribbon", 10, 0.9))
        self.assertIn("ribbon", self.refused("BB.FILTER.PLAN", "nonsense", 10, 0.01))
        self.assertEqual(self.refused("BB.FILTER.PLAN", "ribbon", "x", 0.01), "ERR bad capacity")
        self.assertEqual(self.refused("BB.FILTER.PLAN", "ribbon", 1, "x"), "ERR bad error rate")


if __name__ == "__main__":
    main()
