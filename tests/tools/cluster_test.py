"""bloomblock cluster against nodes that answer with prepared bytes: redirections, pauses, lost
connections, and replies of a hostile server. tests/redis/cluster_test.py has real nodes."""
import itertools
import os
import signal
import subprocess
import sys
import time
import unittest

from fake_node import SILENCE, Node, array, bulk, error, number, slots
from tool import BINARY, SOURCE, ABSENT, FOUND, IO, USAGE, ToolTest, main, run

sys.path.insert(0, os.path.join(SOURCE or ".", "tests", "redis"))
from partition import partition_of, slot_of, xxh64  # noqa: E402

INTERRUPTED = 130
PARTITIONS = 4
# In seconds: longer where nodes reply to other commands before.
TIMEOUT = "0.05"
TIMEOUT_LONG = "0.5"
ALL = (0, 16383)
# Where the keys c:{0} ... c:{3} of the collections below are.
SLOTS = [slot_of(b"{%d}" % i) for i in range(PARTITIONS)]


def is_built():
    return "built without hiredis" not in run("cluster", "get").err


class ClusterTest(ToolTest):
    def node(self, answer):
        node = Node(answer)
        self.addCleanup(node.close)
        return node

    def usual(self, others=lambda words: error("ERR unexpected")):
        """A node that owns all slots and has all partitions; `others` answers other commands."""
        node = self.node(None)

        def answer(words):
            if words[0] == b"CLUSTER":
                return slots((*ALL, node.port))
            if words[0] == b"EXISTS":
                return number(words[1] != b"c:{%d}" % PARTITIONS)
            return others(words)
        node.answer = answer
        return node

    def command(self, name, node, *arguments, partitions=PARTITIONS):
        return ["cluster", name, "--seed", node.seed, "--partitions", str(partitions), "c", *arguments]

    def get(self, node, *keys, code=FOUND, **options):
        return self.expect(code, *self.command("get", node, *keys), **options)


def one_value_each(words):
    """BB.MGET: the value of every field is the field, in other letters."""
    return array(*(bulk(field.upper()) for field in words[2:]))


class Partitions(ClusterTest):
    def test_the_rule_is_xxh64_modulo_the_count(self):
        self.assertEqual(xxh64(b""), 0xef46db3751d8e999)
        self.assertEqual(xxh64(b"abc"), 0x44bc2cf5ad770999)
        node = self.usual(one_value_each)
        fields = [b"", b"abc", b"x" * 31, b"y" * 32, b"z" * 100, *(b"%d" % i for i in range(100))]
        self.get(node, *fields)
        asked = {field: words[1] for words in node.named(b"BB.MGET") for field in words[2:]}
        self.assertEqual(asked, {field: b"c:{%d}" % partition_of(field, PARTITIONS) for field in fields})

    def test_slots_are_those_of_redis(self):
        """Each key is sent to the node that CLUSTER SLOTS names for its slot."""
        self.assertEqual(slot_of(b"{123456789}"), 12739)
        nodes = [self.node(None) for _ in range(3)]
        ends = [0, 5461, 10923, 16384]

        def answer(words):
            if words[0] == b"CLUSTER":
                return slots(*((ends[i], ends[i + 1] - 1, node.port) for i, node in enumerate(nodes)))
            return number(words[1] != b"c:{300}") if words[0] == b"EXISTS" else one_value_each(words)
        for node in nodes:
            node.answer = answer
        self.expect(FOUND, *self.command("get", nodes[0], "key", partitions=300))
        for i, node in enumerate(nodes):
            sent = [slot_of(words[1]) for words in node.named(b"EXISTS")]
            self.assertGreater(len(sent), 50)
            self.assertTrue(all(ends[i] <= slot < ends[i + 1] for slot in sent))

    def test_name_with_a_brace_is_refused(self):
        result = self.expect(USAGE, "cluster", "get", "--seed", "127.0.0.1:1", "a{b", "key")
        self.assertIn("one slot", result.err)

    def exists(self, *present):
        node = self.usual()
        usual = node.answer
        node.answer = lambda words: number(words[1] in present) if words[0] == b"EXISTS" else usual(words)
        return node

    def test_collection_of_another_number_of_partitions_is_refused(self):
        keys = [b"c:{%d}" % i for i in range(8)]
        self.assertIn("does not exist", self.get(self.exists(), "key", code=IO).err)
        self.assertIn("more than 4 partitions", self.get(self.exists(*keys), "key", code=USAGE).err)
        self.assertIn("fewer than 4 partitions", self.get(self.exists(*keys[:2]), "key", code=USAGE).err)
        self.assertIn("c:{1} does not exist", self.get(self.exists(keys[0], *keys[2:4]), "key", code=IO).err)

    def test_interrupted_creation_is_completed(self):
        node = self.exists(b"c:{3}", b"c:{1}")
        usual = node.answer
        node.answer = lambda words: usual(words) if words[0] in (b"CLUSTER", b"EXISTS") else b"+OK\r\n"
        self.expect(FOUND, *self.command("load", node), stdin=b"")
        self.assertEqual([words[1] for words in node.named(b"BB.CREATE")], [b"c:{0}", b"c:{2}"])

    def test_last_partition_is_created_first(self):
        node = self.exists()
        usual = node.answer
        node.answer = lambda words: usual(words) if words[0] in (b"CLUSTER", b"EXISTS") else b"+OK\r\n"
        self.expect(FOUND, *self.command("load", node, "--target", "0.125"), stdin=b"")
        created = node.named(b"BB.CREATE")
        self.assertEqual([words[1] for words in created], [b"c:{3}", b"c:{0}", b"c:{1}", b"c:{2}"])
        self.assertEqual({tuple(words[2:]) for words in created}, {(b"TARGET", b"0.125")})


class Get(ClusterTest):
    def test_values_are_in_the_order_of_the_keys(self):
        keys = [f"key{i}" for i in range(50)]
        result = self.get(self.usual(one_value_each), *keys)
        self.assertEqual(result.lines, [f"{key}\t{key.upper()}" for key in keys])
        path = self.write("keys", "".join(f"{key}\n" for key in keys))
        result = self.get(self.usual(one_value_each), "--keys", path, "--batch", "7")
        self.assertEqual(result.lines, [f"{key}\t{key.upper()}" for key in keys])

    def test_absent_key(self):
        node = self.usual(lambda words: array(*(bulk(None if field == b"no" else b"1") for field in words[2:])))
        self.assertEqual(self.get(node, "yes", "no", code=ABSENT).lines, ["yes\t1"])
        result = self.get(node, "yes", "no", "--json", code=ABSENT)
        self.assertEqual(result.json, {"entries": [{"key": "yes", "found": True, "value": "1"},
                                                   {"key": "no", "found": False}], "complete": True})

    def test_quiet_reads_no_value(self):
        node = self.usual(lambda words: array(*(number(0) for _ in words[2:])))
        self.assertEqual(self.get(node, "key", "--quiet", code=ABSENT).out, b"")
        self.assertEqual(len(node.named(b"BB.MEXISTS")), 1)

    def test_password_is_sent_first(self):
        node = self.usual(lambda words: b"+OK\r\n" if words[0] == b"AUTH" else one_value_each(words))
        environment = {**os.environ, "REDISCLI_AUTH": "secret"}
        self.get(node, "key", "--user", "me", env=environment)
        self.assertEqual(node.words[0], [b"AUTH", b"me", b"secret"])
        node = self.node(lambda words: error("WRONGPASS no"))
        self.assertIn("WRONGPASS", self.get(node, "key", code=IO, env=environment).err)


class Load(ClusterTest):
    def load(self, lines, *arguments, reply=lambda words: number(1), code=FOUND):
        node = self.usual(reply)
        result = self.expect(code, *self.command("load", node, *arguments), stdin=lines)
        return node, result

    def written(self, node):
        """{partition's key: [(field, value), ...]} in the order of the commands."""
        pairs = {}
        for words in node.named(b"BB.MPUT"):
            pairs.setdefault(words[1], []).extend(itertools.zip_longest(words[2::2], words[3::2]))
        return pairs

    def test_each_record_is_in_its_partition(self):
        lines = [b"key%d\tvalue%d" % (i % 300, i) for i in range(1000)]
        node, result = self.load(b"\n".join(lines), "--tsv", "--batch", "10", "--json")
        wanted = {}
        for line in lines:
            field, value = line.split(b"\t")
            wanted.setdefault(b"c:{%d}" % partition_of(field, PARTITIONS), []).append((field, value))
        self.assertEqual(self.written(node), wanted)
        self.assertEqual(result.json["records"], 1000)
        self.assertGreater(len(node.named(b"BB.MPUT")), 1000 // 40)

    def test_bad_option_of_partitions_is_refused_before_any_node_is_asked(self):
        """The server refused it, with code 3 and without the option's name."""
        for options in (["--compression", "zip"], ["--target", "5"], ["--block-size", "1"], ["--cache", "1"],
                        ["--bits-per-key", "1000"], ["--write-buffer", "1K"], ["--write-buffer", "2G"],
                        ["--target", "0.1", "--bits-per-key", "5"], ["--block-size", "8G"]):
            node, result = self.load(b"key\n", *options, code=USAGE)
            self.assertIn(options[0], result.err)
            self.assertEqual(node.words, [])

    def test_hexadecimal_digits(self):
        node, _ = self.load(b"000a\tff\n", "--tsv", "--hex")
        self.assertEqual(list(self.written(node).values()), [[(b"\0\n", b"\xff")]])

    def test_bad_line_after_good_ones(self):
        node, result = self.load(b"00\n0\n", "--hex", code=USAGE)
        self.assertEqual(len(node.named(b"BB.MPUT")), 1)
        self.assertIn("1 record was written before", result.err)

    def test_refused_write_ends_the_load(self):
        _, result = self.load(b"key\n", reply=lambda words: error("BBFULL the disk is full"), code=IO)
        self.assertIn("BBFULL the disk is full", result.err)

    def test_too_few_replicas_are_counted(self):
        def reply(words):
            return number(1 if words[0] == b"WAIT" else 0)
        node, _ = self.load(b"a\nb\n", "--wait", "1", "--wait-timeout", "2", reply=reply)
        self.assertEqual(node.named(b"WAIT"), [[b"WAIT", b"1", b"2000"]])
        _, result = self.load(b"a\nb\n", "--wait", "2", reply=reply, code=IO)
        self.assertIn("2 of 2 records: fewer than 2 replicas had them", result.err)

    def test_acknowledged_lines_are_printed(self):
        def reply(words):
            return number(0)
        _, result = self.load(b"a\nb\n", "--ack")
        self.assertEqual(sorted(result.lines), ["1\ta", "2\tb"])
        _, result = self.load(b"a\nb\n", "--ack", "--wait", "1", reply=reply, code=IO)
        self.assertEqual(result.lines, [])

    def test_write_without_an_answer_to_wait_is_repeated(self):
        answers = iter([number(1), None, number(1), number(1)])
        node, result = self.load(b"a\n", "--wait", "1", "--json", reply=lambda words: next(answers))
        self.assertEqual(len(node.named(b"BB.MPUT")), 2)
        self.assertEqual(result.json["records"], 1)


class Scan(ClusterTest):
    """Each partition has fields of one list, and replies with pages of two entries."""

    FIELDS = sorted(b"%d" % i for i in range(60))

    def page(self, words):
        number_of = int(words[1][3:-1])
        fields = [field for field in self.FIELDS if partition_of(field, PARTITIONS) == number_of]
        if b"REVERSE" in words:
            fields.reverse()
        start = fields.index(words[words.index(b"AFTER") + 1]) + 1 if b"AFTER" in words else 0
        page = fields[start:start + 2]
        cursor = page[-1] if start + 2 < len(fields) else None
        return array(bulk(cursor), array(*(bulk(item) for field in page for item in (field, b"v" + field))))

    def scan(self, *arguments, page=None, code=FOUND):
        self.used = self.usual(page or self.page)
        return self.expect(code, *self.command("scan", self.used, *arguments))

    def test_entries_are_merged_in_order(self):
        lines = [f"{field.decode()}\tv{field.decode()}" for field in self.FIELDS]
        self.assertEqual(self.scan().lines, lines)
        self.assertEqual(self.scan("--reverse").lines, lines[::-1])
        self.assertEqual(self.scan("--limit", "7").lines, lines[:7])
        self.assertEqual(self.scan("--limit", "0").lines, lines)
        self.assertEqual(self.scan("--count").lines, ["60"])
        result = self.scan("--json", "--keys-only").json
        self.assertEqual([row["key"].encode() for row in result["entries"]], self.FIELDS)
        self.assertTrue(result["complete"])

    def test_range_is_sent(self):
        self.scan("--from", "a", "--to", "b", page=lambda words: array(bulk(None), array()))
        self.assertEqual({tuple(words[2:6]) for words in self.used.named(b"BB.SCAN")}, {(b"FROM", b"a", b"TO", b"b")})
        self.scan("--prefix", "p", "--limit", "3", page=lambda words: array(bulk(None), array()))
        self.assertEqual({tuple(words[2:]) for words in self.used.named(b"BB.SCAN")},
                         {(b"PREFIX", b"p", b"LIMIT", b"3")})

    def test_fields_of_another_partition_are_refused(self):
        result = self.scan(page=lambda words: array(bulk(None), array(bulk(b"1"), bulk(b"1"))), code=IO)
        self.assertIn("has a field of another partition", result.err)

    def test_fields_out_of_order_are_refused(self):
        """Also a server that begins at the start again for every page."""
        fields = [field for field in self.FIELDS if partition_of(field, PARTITIONS) == 0][:2]

        def page(words, fields):
            return array(bulk(fields[-1]), array(*(bulk(item) for field in fields for item in (field, b""))))
        for wrong in (fields[::-1], [fields[0]] * 2, fields):
            result = self.scan(code=IO, page=lambda words, wrong=wrong: page(words, wrong) if words[1] == b"c:{0}"
                               else array(bulk(None), array()))
            self.assertIn("not in order", result.err)


class Stat(ClusterTest):
    @staticmethod
    def counts(words):
        """BB.INFO, BB.STATS: the number of the partition, and 9 lookups."""
        return array(*(
            item for name in ("fields_estimated entries_in_tables tables file_bytes filter_bytes memory_bytes "
                              "is_incomplete lookups lookups_found table_visits block_requests block_reads "
                              "block_requests_avoided block_requests_wasted writes flushes compactions "
                              "system_reads").split()
            for item in (bulk(name.encode()), number(9 if name == "lookups" else int(words[1][3:-1])))))

    def test_counts_of_partitions_are_added(self):
        node = self.usual(self.counts)
        result = self.expect(FOUND, *self.command("stat", node, "--json")).json
        self.assertEqual((result["partitions"], result["lookups"], result["lookups_found"]), (4, 36, 6))
        self.assertEqual(result["nodes"][0]["port"], node.port)
        self.assertAlmostEqual(result["avoided_share"], 0.5)
        self.assertAlmostEqual(result["wasted_per_absent_lookup"], 6 / 30)

    def test_missing_count_is_an_error(self):
        node = self.usual(lambda words: array(bulk(b"tables"), number(1)))
        self.assertIn("fields_estimated", self.expect(IO, *self.command("stat", node)).err)

    def rows(self, node):
        """{port: (partitions, fields, lookups)}"""
        result = self.expect(FOUND, *self.command("stat", node, "--json")).json
        self.assertEqual((result["partitions"], result["fields_estimated"], result["lookups"]), (4, 6, 36))
        return {row["port"]: (row["partitions"], row["fields_estimated"], row["lookups"]) for row in result["nodes"]}

    def test_redirected_partition_counts_for_the_node_that_replied(self):
        """It crashed: the replies of the first pass had no node in the second."""
        for kind in ("MOVED", "ASK"):
            other = self.usual(lambda words: b"+OK\r\n" if words[0] == b"ASKING" else self.counts(words))
            node = self.usual(lambda words, kind=kind, other=other: self.counts(words) if words[1] != b"c:{2}" else
                              error(f"{kind} {SLOTS[2]} 127.0.0.1:{other.port}"))
            self.assertEqual(self.rows(node), {node.port: (3, 4, 27), other.port: (1, 2, 9)}, kind)

    def test_partition_that_is_asked_again_counts_once(self):
        for trouble in (error("TRYAGAIN later"), error("CLUSTERDOWN later"), None):
            answers = iter([trouble, trouble])
            node = self.usual(lambda words, answers=answers: self.counts(words) if words[1] != b"c:{2}" else
                              next(answers, self.counts(words)))
            self.assertEqual(self.rows(node), {node.port: (4, 6, 36)}, trouble)


class Redirections(ClusterTest):
    def pair(self, first):
        """Two nodes; the first one owns all slots and answers BB.MGET by `first`."""
        other = self.usual(lambda words: b"+OK\r\n" if words[0] == b"ASKING" else one_value_each(words))
        return self.usual(lambda words: first(words, other)), other

    def test_moved_is_remembered(self):
        node, other = self.pair(lambda words, other: error(f"MOVED {slot_of(words[1])} 127.0.0.1:{other.port}"))
        path = self.write("keys", "one\none\none\n")
        self.assertEqual(self.get(node, "--keys", path, "--batch", "1").lines, ["one\tONE"] * 3)
        self.assertEqual((len(node.named(b"BB.MGET")), len(other.named(b"BB.MGET"))), (1, 3))

    def test_moved_without_a_host_is_another_port(self):
        node, other = self.pair(lambda words, other: error(f"MOVED {slot_of(words[1])} :{other.port}"))
        self.assertEqual(self.get(node, "one").lines, ["ONE"])
        self.assertEqual(len(other.named(b"BB.MGET")), 1)

    def test_ask_is_for_one_command(self):
        node, other = self.pair(lambda words, other: error(f"ASK {slot_of(words[1])} 127.0.0.1:{other.port}"))
        path = self.write("keys", "one\none\n")
        self.get(node, "--keys", path, "--batch", "1")
        self.assertEqual(len(node.named(b"BB.MGET")), 2)
        self.assertEqual([words[0] for words in other.words], [b"ASKING", b"BB.MGET"] * 2)

    def test_circle_ends_with_a_sentence(self):
        node = self.usual()
        usual = node.answer
        node.answer = lambda words: usual(words) if words[0] != b"BB.MGET" else \
            error(f"MOVED {slot_of(words[1])} {node.seed}")
        start = time.monotonic()
        result = self.get(node, "key", "--timeout", TIMEOUT_LONG, code=IO)
        self.assertIn("gave no result for 0.5 s", result.err)
        self.assertIn("MOVED", result.err)
        self.assertLess(time.monotonic() - start, 30)
        self.assertLess(len(node.words), 1000)

    def test_bad_redirections_are_errors(self):
        for text in ("MOVED", "MOVED ", "MOVED 1", "MOVED x 127.0.0.1:1", "MOVED 16384 127.0.0.1:1",
                     "MOVED 99999999999999999999 127.0.0.1:1", "MOVED 1 127.0.0.1", "MOVED 1 127.0.0.1:0",
                     "MOVED 1 127.0.0.1:65536", "MOVED 1 127.0.0.1:x", "ASK 1 " + "h" * 300 + ":1", "ASK -1 h:1",
                     "ASK 1 \x1b[2J:1", "", " ", "MOVEDx 1 127.0.0.1:1"):
            node = self.usual(lambda words, text=text: error(text))
            result = self.get(node, "key", code=IO)
            self.assertEqual(len(result.err.splitlines()), 1, text)
            self.assertNotIn("\x1b", result.err)


class Pauses(ClusterTest):
    def test_errors_that_pass_are_waited_for(self):
        for code in ("TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY"):
            answers = iter([error(f"{code} later"), error(f"{code} later")])
            node = self.usual(lambda words, answers=answers: next(answers, None) or one_value_each(words))
            self.assertEqual(self.get(node, "key").lines, ["KEY"], code)

    def test_errors_that_stay_end_with_a_sentence(self):
        node = self.usual(lambda words: error("CLUSTERDOWN Hash slot not served"))
        result = self.get(node, "key", "--timeout", TIMEOUT_LONG, code=IO)
        self.assertIn("gave no result for 0.5 s; the last answer: 127.0.0.1", result.err)
        self.assertIn("CLUSTERDOWN Hash slot not served", result.err)

    def test_lost_connection_is_replaced(self):
        answers = iter([None, None])
        node = self.usual(lambda words: next(answers, one_value_each(words)))
        self.assertEqual(self.get(node, "key").lines, ["KEY"])
        self.assertEqual(len(node.named(b"BB.MGET")), 3)

    def test_dead_node_is_replaced_by_the_one_of_a_new_map(self):
        other = self.usual(one_value_each)
        dead = Node(None)
        usual = other.answer
        maps = iter([slots((*ALL, dead.port))])
        other.answer = lambda words: words[0] == b"CLUSTER" and next(maps, None) or usual(words)
        dead.close()
        self.assertEqual(self.get(other, "key").lines, ["KEY"])

    def test_slot_without_a_node_is_waited_for(self):
        node = self.usual(one_value_each)
        usual = node.answer
        maps = iter([slots()])
        node.answer = lambda words: words[0] == b"CLUSTER" and next(maps, None) or usual(words)
        self.assertEqual(self.get(node, "key").lines, ["KEY"])

    def test_map_stays_when_a_new_one_is_damaged(self):
        answers = iter([error("CLUSTERDOWN Hash slot not served")])
        node = self.usual(lambda words: next(answers, None) or one_value_each(words))
        usual = node.answer
        maps = iter([slots((*ALL, node.port))])
        damaged = array(array(number(0), number(0), array(bulk(b"127.0.0.1"), number(node.port))), number(1))
        node.answer = lambda words: next(maps, damaged) if words[0] == b"CLUSTER" else usual(words)
        self.assertEqual(self.get(node, "key", "--timeout", TIMEOUT_LONG).lines, ["KEY"])
        self.assertGreater(len(node.named(b"CLUSTER")), 1)

    def test_silent_node_is_given_up(self):
        node = self.usual(lambda words: SILENCE)
        result = self.get(node, "key", "--timeout", TIMEOUT_LONG, code=IO)
        self.assertIn("no answer", result.err)

    def test_second_seed_is_used(self):
        dead = Node(None)
        dead.close()
        node = self.usual(one_value_each)
        result = self.expect(FOUND, *self.command("get", dead, "--seed", node.seed, "key"))
        self.assertEqual(result.lines, ["KEY"])

    def test_interrupt(self):
        for others in (lambda words: SILENCE, lambda words: error("TRYAGAIN later")):
            node = self.usual(others)
            with subprocess.Popen([BINARY, *self.command("get", node, "key")], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                while not node.named(b"BB.MGET"):
                    time.sleep(0.01)
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, INTERRUPTED)
            self.assertEqual(err.decode(), "bloomblock cluster get: interrupted\n")


class Hostile(ClusterTest):
    """Replies of other types and sizes than the commands have."""

    REPLIES = [number(1), number(-1), bulk(None), bulk(b"text"), b"+OK\r\n", b"*-1\r\n", array(), array(number(1)),
               array(array(), array()), array(bulk(b"1"), array(bulk(b"1"))), array(bulk(None), array(bulk(b"key"))),
               b"*2147483647\r\n", b"*4294967296\r\n", b"*99999999999999999999\r\n", b"*-5\r\n",
               b"$-5\r\n", b"$99999999999999999999\r\n", b"*1\r\n" * 20, b"?\r\n", b"\0" * 100,
               b"HTTP/1.1 400 Bad\r\n\r\n", array(number(0), number(16383)), slots((0, 16384, 1)), slots((5, 4, 1)),
               slots((-1, 4, 1)), slots((0, 1, 0)), slots((0, 1, 65536)),
               array(array(number(0), number(1), array(number(1), number(2)))),
               array(array(number(0), number(1), bulk(b"x")))]

    def refuse(self, node, *command):
        result = run(*self.command(*command[:1], node, *command[1:], "--timeout", TIMEOUT), stdin=b"key\n")
        self.assertIn(result.code, (FOUND, ABSENT, IO, USAGE), (command, result.err))
        self.assertLess(len(result.complaints), 3, result.err)
        self.assertNotIn("Sanitizer", result.err)
        return result

    def test_map(self):
        for reply in self.REPLIES:
            node = self.node(lambda words, reply=reply: reply)
            self.assertEqual(self.refuse(node, "get", "key").code, IO, reply)

    def test_every_command(self):
        names = {b"EXISTS": ["get", "key"], b"BB.MGET": ["get", "key"], b"BB.MEXISTS": ["get", "key", "--quiet"],
                 b"WAIT": ["load", "--wait", "1"], b"BB.SCAN": ["scan"],
                 b"BB.INFO": ["stat"]}
        for name, command in names.items():
            for reply in self.REPLIES[:11]:
                node = self.usual(lambda words: number(1))
                usual = node.answer
                node.answer = lambda words, name=name, reply=reply, usual=usual: \
                    reply if words[0] == name else usual(words)
                self.refuse(node, *command)

    def test_endless_nodes(self):
        """Every MOVED names another port."""
        ports = itertools.count(1)
        node = self.usual(lambda words: error(f"MOVED {slot_of(words[1])} 127.0.0.1:{next(ports)}"))
        self.assertEqual(self.refuse(node, "get", "key").code, IO)


if __name__ == "__main__":
    if BINARY is not None and not is_built():
        print("bloomblock is built without hiredis: its command cluster is not tested")
        sys.exit(0)
    main()
