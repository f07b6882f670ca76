"""The directories of saved states: forks that fail, children that are slow, files that remain.

Method: a library that controls the server's forks and lists its syncs (system_control.c) makes each
case happen."""
import os
import re
import resource
import shutil
import tempfile
import time

from ports import free_port
from resp import Refused
from server import MODULE, Server, main
from store_files import StoreFiles

CONTROL = os.path.join(os.path.dirname(MODULE or "."), "tests", "redis", "libbb_system_control.so")
WAIT_SECONDS = 60


class Saves(StoreFiles):
    def start(self, module_arguments=(), **options):
        self.server = Server(self.directory, module_arguments=module_arguments, preload=[CONTROL],
                             variables={"BB_SYSTEM_CONTROL": self.directory}, **options).start()
        self.addCleanup(self.server.kill)
        return self.server.client()

    def control(self, name):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="ascii"):
            return path

    def directories(self, root="bb"):
        return sorted(name for name in os.listdir(os.path.join(self.directory, root)) if len(name) >= 32)

    def wait_until(self, is_true):
        end = time.monotonic() + WAIT_SECONDS
        while not is_true():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.001)

    def save_in_child(self, redis):
        redis("BGSAVE")
        self.wait_for_child(redis)
        self.assertIn(b"rdb_last_bgsave_status:ok", redis("INFO", "persistence"))
        self.wait_until(lambda: len(self.saved()) == 1)
        return self.saved()[0]

    def test_a_failed_fork_keeps_no_store(self):
        redis = self.start()
        redis("BB.PUT", "s", "a", "1")
        fail = self.control("fail")
        for _ in range(2):
            with self.assertRaises(Refused):
                redis("BGSAVE")
        os.remove(fail)
        self.assertEqual(self.saved(), [])
        self.assertEqual(redis("BB.GET", "s", "a"), b"1")
        redis("BB.PUT", "t", "a", "1")
        redis("DEL", "s")
        self.wait_until(lambda: len(self.directories()) == 1)
        self.save_in_child(redis)
        self.end(redis)

    def test_a_failed_fork_forgets_the_state(self):
        """The state that the failed save drew has no directory, so the next save makes another."""
        redis = self.start()
        redis("BB.PUT", "s", "a", "1")
        fail = self.control("fail")
        with self.assertRaises(Refused):
            redis("BGSAVE")
        os.remove(fail)
        self.save_in_child(redis)
        self.end(redis, kill=True)
        redis = self.start()
        self.assertTrue(self.is_adopted(redis, "s"))
        self.assertEqual(redis("BB.GET", "s", "a"), b"1")
        self.end(redis)

    def test_save_during_a_rewrite_keeps_the_directory_of_the_child(self):
        redis = self.start(appendonly="yes")
        redis("BB.PUT", "s", "a", "1")
        state = self.save_in_child(redis)
        hold = self.control("hold")
        redis("BGREWRITEAOF")
        redis("BB.PUT", "s", "a", "2")
        redis("SAVE")
        redis("BB.CREATE", "t")  # a job after the removal, if there is one
        self.assertIn(state, self.saved())
        os.remove(hold)
        self.wait_for_child(redis)
        self.assertIn(b"aof_last_bgrewrite_status:ok", redis("INFO", "persistence"))
        self.end(redis, kill=True)
        redis = self.start(appendonly="yes")
        self.assertEqual(redis("BB.GET", "s", "a"), b"2")
        self.end(redis)

    def test_a_directory_that_only_a_child_held_is_removed(self):
        redis = self.start(appendonly="yes")
        redis("BB.PUT", "s", "a", "1")
        state = self.save_in_child(redis)
        hold = self.control("hold")
        redis("BGREWRITEAOF")
        redis("DEL", "s")
        redis("SAVE")
        self.assertIn(state, self.saved())
        child = self.child_of(redis)
        os.kill(child, 9)
        os.remove(hold)
        self.wait_until(lambda: self.saved() == [])
        self.end(redis)

    def pipes_of(self, process):
        """The flags of the ends of pipes that a process has."""
        found = []
        for name in os.listdir(f"/proc/{process}/fd"):
            if os.readlink(f"/proc/{process}/fd/{name}").startswith("pipe:"):
                with open(f"/proc/{process}/fdinfo/{name}", encoding="ascii") as file:
                    flags, = re.findall(r"^flags:\s+(\d+)", file.read(), re.MULTILINE)
                found.append(int(flags, 8))
        return found

    def test_programs_that_the_server_starts_have_no_pipe_of_a_save(self):
        """Regression: the pipe between server and child had no O_CLOEXEC."""
        redis = self.start(appendonly="yes")
        redis("BB.PUT", "s", "a", "1")
        pipes_before = len(self.pipes_of(self.server.process.pid))
        hold = self.control("hold")
        redis("BGREWRITEAOF")
        pipes = self.pipes_of(self.child_of(redis))
        os.remove(hold)
        self.assertGreater(len(pipes), pipes_before)
        self.assertEqual([oct(flags) for flags in pipes if not flags & os.O_CLOEXEC], [])
        self.wait_for_child(redis)
        self.end(redis)

    def test_a_report_that_a_signal_interrupts_arrives(self):
        """Regression: the child took EINTR for the server's end, and the save failed."""
        redis = self.start()
        for name in "stuv":
            redis("BB.PUT", name, "a", "1")
        self.control("interrupt")
        redis("BGSAVE")
        self.wait_for_child(redis)
        self.assertIn(b"rdb_last_bgsave_status:ok", redis("INFO", "persistence"), self.server.log()[-2000:])
        self.wait_until(lambda: len(self.saved()) == 4)
        self.end(redis)

    def child_of(self, redis):
        server = self.server.process.pid
        self.assertIn(b"aof_rewrite_in_progress:1", redis("INFO", "persistence"))
        with open(f"/proc/{server}/task/{server}/children", encoding="ascii") as file:
            child, = file.read().split()
        return int(child)

    def test_a_full_sync_after_save_is_not_taken_for_an_rdb_file(self):
        port = free_port()
        redis = self.start(port=port, repl_diskless_sync="yes", repl_diskless_sync_delay=0)
        redis("BB.PUT", "s", "a", "1")
        state = self.save_in_child(redis)
        redis("SAVE")
        redis("BB.PUT", "s", "a", "2")
        other = tempfile.mkdtemp(prefix="bb-redis.")
        self.addCleanup(shutil.rmtree, other)
        replica = Server(other, replicaof=f"127.0.0.1 {port}").start()
        self.addCleanup(replica.kill)
        with replica.client() as client:
            self.wait_until(lambda: b"master_link_status:up" in client("INFO", "replication"))
            self.assertEqual(client("BB.GET", "s", "a"), b"2")
        self.wait_for_child(redis)
        self.wait_until(lambda: self.saved() == [state])
        self.end(redis, kill=True)
        redis = self.start()
        self.assertTrue(self.is_adopted(redis, "s"))
        self.assertEqual(redis("BB.GET", "s", "a"), b"1")
        self.end(redis)

    def test_files_of_an_earlier_server_are_removed_without_an_rdb(self):
        redis = self.start()
        redis("BB.PUT", "s", "a", "1")
        self.save_in_child(redis)
        self.end(redis, kill=True)
        os.remove(os.path.join(self.directory, "dump.rdb"))
        redis = self.start()
        self.wait_until(lambda: self.directories() == [])
        self.assertEqual(redis("DBSIZE"), 0)
        self.end(redis)

    def test_the_directory_of_the_last_store_is_removed_by_the_next_save(self):
        """Regression: a save without stores left the directories of earlier ones."""
        redis = self.start()
        redis("BB.PUT", "s", "a", "1")
        self.save_in_child(redis)
        redis("DEL", "s")
        redis("BGSAVE")
        self.wait_for_child(redis)
        self.wait_until(lambda: self.directories() == [])
        self.end(redis)

    def test_a_directory_that_a_start_took_is_removed_by_the_next_save(self):
        """Regression: it counted as named by an AOF too, and stayed without one."""
        for options, save in (({}, "BGSAVE"), ({"appendonly": "yes"}, "BGREWRITEAOF")):
            redis = self.start(**options)
            redis("BB.PUT", "s", "a", "1")
            redis(save)
            self.wait_for_child(redis)
            self.wait_until(lambda: len(self.saved()) == 1)
            state = self.saved()[0]
            self.end(redis, kill=True)
            redis = self.start(**options)
            redis("BB.PUT", "s", "a", "2")
            redis(save)
            self.wait_for_child(redis)
            self.wait_until(lambda: len(self.saved()) == 1 and self.saved()[0] != state)
            redis("FLUSHALL")
            self.end(redis)

    def test_an_end_during_a_save_takes_no_name_from_it(self):
        """Regression: the stores got the names of states whose RDB file was never written."""
        redis = self.start()
        redis("BB.PUT", "s", "a", "1")
        hold = self.control("hold")
        redis("BGSAVE")
        self.wait_until(lambda: len(self.saved()) == 1)
        self.end(redis)
        os.remove(hold)
        self.assertNotIn("# <bloomblock>", self.server.log())
        self.assertNotIn("rename", self.server.log())

    def test_a_save_after_a_reset_of_statistics_keeps_its_directory(self):
        """Regression: the counter of RDB files seemed not to have grown."""
        redis = self.start()
        for value in range(3):
            redis("BB.PUT", "s", "a", value)
            redis("BGSAVE")
            self.wait_for_child(redis)
        self.wait_until(lambda: len(self.saved()) == 1)
        redis("CONFIG", "RESETSTAT")
        state = self.saved()[0]
        redis("BB.PUT", "s", "a", "last")
        redis("BGSAVE")
        self.wait_for_child(redis)
        self.wait_until(lambda: len(self.saved()) == 1 and self.saved()[0] != state)
        self.end(redis, kill=True)
        redis = self.start()
        self.assertTrue(self.is_adopted(redis, "s"))
        self.assertEqual(redis("BB.GET", "s", "a"), b"last")
        self.end(redis)

    def test_a_save_without_file_descriptors_has_the_reason_in_the_log(self):
        redis = self.start()
        redis("BB.PUT", "s", "a", "1")
        process = self.server.process.pid
        taken = {int(name) for name in os.listdir(f"/proc/{process}/fd")}
        free = min(set(range(len(taken) + 1)) - taken)
        limits = resource.prlimit(process, resource.RLIMIT_NOFILE)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (free, limits[1]))
        redis("BGSAVE")
        self.wait_for_child(redis)
        resource.prlimit(process, resource.RLIMIT_NOFILE, limits)
        self.assertIn(b"rdb_last_bgsave_status:err", redis("INFO", "persistence"))
        self.assertIn("no pipe to the server: Too many open files", self.server.log())
        self.save_in_child(redis)
        self.end(redis)

    def test_files_that_an_rdb_names_are_not_removed(self):
        redis = self.start()
        redis("BB.PUT", "s", "a", "1")
        redis("BB.PUT", "t", "a", "1")
        redis("BGSAVE")
        self.wait_for_child(redis)
        self.wait_until(lambda: len(self.saved()) == 2)
        saved = self.saved()
        for _ in range(2):
            self.end(redis, kill=True)
            redis = self.start()
            self.wait_until(lambda: len(self.directories()) == 4)
            self.assertEqual(self.saved(), saved)
        self.end(redis)

    def synced(self, name):
        """The paths that were synced, below the directory of stores."""
        root = os.path.join(self.directory, "bb")
        with open(name, encoding="utf-8") as file:
            paths = {os.path.relpath(line.strip(), root) for line in file}
        return {path for path in paths if not path.startswith("..")}

    def fill(self, redis):
        for at in range(0, 3000, 100):
            redis("BB.MPUT", "s", *(part for i in range(at, at + 100) for part in (i, os.urandom(1000))))
        redis("BB.COMPACT", "s")
        redis("BB.PUT", "s", "in memory", "1")

    def test_only_saved_states_are_synced(self):
        """Every file of them, the directory, and the directory with its name."""
        redis = self.start(save="3600 1")
        redis("BB.PUT", "s", "a", "1")
        syncs = self.control("syncs")
        self.fill(redis)
        self.assertEqual(self.synced(syncs), set())
        state = self.save_in_child(redis)
        files = os.listdir(os.path.join(self.directory, "bb", state))
        self.assertGreater(len(files), 3)
        self.assertEqual(self.synced(syncs), {".", state} | {f"{state}/{name}" for name in files})
        redis("BB.PUT", "s", "a", "2")
        syncs = self.control("syncs")  # empty again
        self.end(redis)
        state, = set(self.saved()) - {state}
        before_renaming = {path.split("/")[-1] for path in self.synced(syncs) if "/" in path}
        self.assertLessEqual(set(os.listdir(os.path.join(self.directory, "bb", state))), before_renaming)
        redis = self.start()
        self.assertTrue(self.is_adopted(redis, "s"))
        self.assertEqual(redis("BB.MGET", "s", "a", "in memory"), [b"2", b"1"])
        self.end(redis)

    def test_a_relative_directory_is_where_the_server_began(self):
        for name in ("sub", "other"):
            os.mkdir(os.path.join(self.directory, name))
        redis = self.start(module_arguments=["DIR", "sub"], enable_protected_configs="yes")
        redis("CONFIG", "SET", "dir", os.path.join(self.directory, "other"))
        redis("BB.PUT", "s", "a", "1")
        self.assertEqual(len(self.directories("sub/bb")), 1)
        info = redis("BB.INFO", "s")
        place = info[info.index("directory") + 1]
        self.assertEqual(os.path.dirname(place), os.path.join(self.directory, "sub", "bb"))
        redis("DEL", "s")
        self.wait_until(lambda: self.directories("sub/bb") == [])
        self.end(redis)


if __name__ == "__main__":
    main()
