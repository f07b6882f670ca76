#!/usr/bin/env python3
"""Stores of the Redis module, measured in a real server.

    bench/redis_store_bench.py MODULE [--fields N] [--value BYTES]

    absent    lookups of absent fields per second, through one connection with a pipeline, beside
              SISMEMBER of absent members of a set in the same server
    latency   round trips of PING while another client reads fields from the device
    pauses    the longest round trip of PING during BGSAVE, BGREWRITEAOF and a full sync, beside the
              time of the fork itself
    moves     DUMP, RESTORE and MIGRATE, which Redis executes in its only thread, of the store, of a
              hash of the same fields and values, and of a string of the same size
    restart   the start of the server, with the directories of its stores and without

The module gets the memory of its defaults; the data is many times larger. The directory is a
temporary one, under TMPDIR.
"""
import argparse
import multiprocessing
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "redis"))
from resp import Client, encode  # noqa: E402
from server import Server  # noqa: E402

SEED = 1


def field(i):
    return b"http://host%05d.example/page/%09d" % (i % 7919, i)


def pairs_of(count, value_size):
    """Lists of 200 fields with even numbers, each before its value, which does not compress."""
    rng = random.Random(SEED)
    for at in range(0, count, 200):
        yield [word for i in range(at, min(at + 200, count)) for word in (field(2 * i), rng.randbytes(value_size))]


def fill(redis, key, count, value_size):
    for pairs in pairs_of(count, value_size):
        redis("BB.MPUT", key, *pairs)
    redis("BB.COMPACT", key)


class Flood:
    """Sends prepared bytes through one connection, ahead of the replies, and counts lines."""

    def __init__(self, client, commands, lines_per_command):
        self.socket = client.socket
        self.parts = [b"".join(map(encode, commands[at:at + 200])) for at in range(0, len(commands), 200)]
        self.lines = [len(commands[at:at + 200]) * lines_per_command for at in range(0, len(commands), 200)]

    def run(self):
        begin = time.perf_counter()
        open_lines = 0
        for part, lines in zip(self.parts, self.lines):
            self.socket.sendall(part)
            open_lines += lines
            open_lines -= self.receive() if open_lines > lines else 0
        while open_lines > 0:
            open_lines -= self.receive()
        return time.perf_counter() - begin

    def receive(self):
        return self.socket.recv(1 << 20).count(b"\n")


def measure_absent(server, count, lookups):
    rng = random.Random(SEED)
    names = [field(2 * rng.randrange(count) + 1) for _ in range(lookups)]
    with server.client() as redis:
        for at in range(0, count, 500):
            redis("SADD", "set", *(field(2 * i) for i in range(at, min(at + 500, count))))
        for warm in range(0, lookups, 100):
            redis("BB.MEXISTS", "store", *names[warm:warm + 100])
        groups = [names[at:at + 10] for at in range(0, lookups, 10)]
        cases = {"SISMEMBER": ([("SISMEMBER", "set", name) for name in names], 1),
                 "BB.EXISTS": ([("BB.EXISTS", "store", name) for name in names], 1),
                 "SMISMEMBER of 10": ([("SMISMEMBER", "set", *group) for group in groups], 11),
                 "BB.MEXISTS of 10": ([("BB.MEXISTS", "store", *group) for group in groups], 11)}
        floods = {name: Flood(redis, *case) for name, case in cases.items()}
        rates = {name: [] for name in cases}
        for _ in range(5):
            for name, flood in floods.items():
                rates[name].append(lookups / flood.run())
        for name in cases:
            print(f"  {name:18} {statistics.median(rates[name]):12,.0f} fields per second")
        for ours, theirs in (("BB.EXISTS", "SISMEMBER"), ("BB.MEXISTS of 10", "SMISMEMBER of 10"),
                             ("BB.MEXISTS of 10", "SISMEMBER")):
            share = statistics.median(rates[ours]) / statistics.median(rates[theirs])
            print(f"  {ours} / {theirs}: {share:.2f}")
        print(f"  memory of the store {redis('MEMORY', 'USAGE', 'store') / 1e6:.1f} MB")
        redis("DEL", "set")


def ping(path, is_over, trips, is_realtime):
    if is_realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(5))
    with Client(path) as client:
        found = []
        while not is_over.is_set():
            begin = time.perf_counter()
            client("PING")
            found.append(time.perf_counter() - begin)
            time.sleep(0.0005)
    trips.send(found)


class Pings:
    """Round trips of PING in another process, in seconds."""

    def __init__(self, server):
        self.is_over = multiprocessing.Event()
        self.trips, end = multiprocessing.Pipe(duplex=False)
        arguments = (server.socket, self.is_over, end, bool(server.wrapper))
        self.process = multiprocessing.Process(target=ping, args=arguments)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.trips = self.trips.recv()
        self.process.join()

    def percentile(self, share):
        return sorted(self.trips)[min(int(len(self.trips) * share), len(self.trips) - 1)] * 1000

    def print(self, title):
        print(f"  {title:34} median {self.percentile(0.5):6.2f} ms, 99 % {self.percentile(0.99):6.2f} ms, "
              f"longest {self.percentile(1):6.2f} ms, {len(self.trips)} trips")


def forget_files(directory):
    """The system's page cache drops the tables."""
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.endswith(".bbt"):
                handle = os.open(os.path.join(folder, name), os.O_RDONLY)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(handle)


def read_cold(server, count, is_over):
    rng = random.Random(threading.get_ident())
    with server.client() as redis:
        while not is_over.is_set():
            redis.pipeline([("BB.GET", "store", field(2 * rng.randrange(count))) for _ in range(20)])


def get_on(server, is_over):
    """The same load without stores, for comparison."""
    with server.client() as redis:
        while not is_over.is_set():
            redis.pipeline([("GET", "missing")] * 20)
            time.sleep(0.001)


def measure_latency(server, directory, count, seconds):
    with Pings(server) as idle:
        time.sleep(2)
    idle.print("idle")
    is_over = threading.Event()
    load = threading.Thread(target=get_on, args=(server, is_over))
    with Pings(server) as busy:
        load.start()
        time.sleep(3)
        is_over.set()
        load.join()
    busy.print("while GET is called as often")
    is_over = threading.Event()
    readers = [threading.Thread(target=read_cold, args=(server, count, is_over))]
    forget_files(directory)
    with Pings(server) as pings:
        for reader in readers:
            reader.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.5)
            forget_files(directory)
        is_over.set()
        for reader in readers:
            reader.join()
    pings.print("while cold fields are read")
    with server.client() as redis:
        stats = redis("BB.STATS", "store")
        print("  reads from files:", stats[stats.index("block_reads") + 1])


def info(redis, name):
    for line in redis("INFO", "everything").decode().splitlines():
        if line.startswith(name + ":"):
            return line.split(":", 1)[1]
    return None


def wait_for(redis, name, value):
    while info(redis, name) != value:
        time.sleep(0.02)


def measure_child(server, title, command, field_name):
    with server.client() as redis, Pings(server) as pings:
        is_over = threading.Event()
        writer = threading.Thread(target=write_on, args=(server, is_over))
        writer.start()
        time.sleep(0.5)
        begin = time.monotonic()
        redis(*command)
        time.sleep(0.1)
        wait_for(redis, field_name, "0")
        seconds = time.monotonic() - begin
        is_over.set()
        writer.join()
        fork = int(info(redis, "latest_fork_usec")) / 1000
    pings.print(f"{title}, {seconds:.1f} s, fork {fork:.1f} ms")


def write_on(server, is_over):
    rng = random.Random(SEED)
    with server.client() as redis:
        while not is_over.is_set():
            redis.pipeline([("BB.PUT", "other", field(rng.randrange(100000)), b"x" * 100) for _ in range(20)])


def digest(redis, key):
    return redis("DEBUG", "DIGEST-VALUE", key)


def measure_sync(server, directory, options):
    other = os.path.join(directory, "replica")
    os.makedirs(other)
    replica = Server(other, port=options["port"] + 1).start()
    try:
        with replica.client() as second, server.client() as redis, Pings(server) as pings:
            begin = time.monotonic()
            second("REPLICAOF", "127.0.0.1", options["port"])
            wait_for(second, "master_link_status", "up")
            seconds = time.monotonic() - begin
            fork = int(info(redis, "latest_fork_usec")) / 1000
        with replica.client() as second, server.client() as redis:
            equal = digest(redis, "store") == digest(second, "store")
        pings.print(f"full sync, {seconds:.1f} s, fork {fork:.1f} ms")
        print("  equal contents:", equal)
    finally:
        replica.kill()


def move(redis, second, port, key):
    """Seconds of DUMP, RESTORE and MIGRATE, and whether the copies are equal."""
    second("FLUSHALL")
    times = [time.perf_counter()]
    payload = redis("DUMP", key)
    times.append(time.perf_counter())
    redis("RESTORE", "copy", 0, payload)
    times.append(time.perf_counter())
    redis("MIGRATE", "127.0.0.1", port, key, 0, 60000, "COPY")
    times.append(time.perf_counter())
    is_equal = digest(redis, key) == digest(redis, "copy") == digest(second, key)
    redis("DEL", "copy")
    return [after - before for before, after in zip(times, times[1:])], is_equal


def measure_moves(server, directory, options):
    other = os.path.join(directory, "target")
    os.makedirs(other)
    target = Server(other, port=options.port + 1).start()
    try:
        with server.client() as redis, target.client() as second:
            for pairs in pairs_of(options.fields, options.value):
                redis("HSET", "hash", *pairs)
            redis("SET", "string", random.Random(SEED).randbytes(options.fields * (options.value + len(field(0)))))
            for key in ("store", "hash", "string"):
                rounds = [move(redis, second, options.port + 1, key) for _ in range(3)]
                ranges = [f"{min(part):.2f} to {max(part):.2f} s" for part in zip(*(seconds for seconds, _ in rounds))]
                print(f"  {key:7} DUMP {ranges[0]}, RESTORE {ranges[1]}, MIGRATE {ranges[2]}; equal contents: "
                      f"{all(is_equal for _, is_equal in rounds)}")
            redis("DEL", "hash", "string")
    finally:
        target.kill()


def measure_restart(server, directory):
    with server.client() as redis:
        redis("DEL", "other")
        redis("CONFIG", "SET", "save", "3600 1")
    server.options["save"] = "3600 1"
    begin = time.perf_counter()
    server.stop()
    print(f"  end with an RDB: {time.perf_counter() - begin:.2f} s")
    for way in ("the directory is taken", "the store is built from the file"):
        begin = time.perf_counter()
        server.start()
        print(f"  start, {way}: {time.perf_counter() - begin:.2f} s")
        server.kill()
        shutil.rmtree(os.path.join(directory, "bb"))
    server.start()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("--fields", type=int, default=160000)
    parser.add_argument("--value", type=int, default=400)
    parser.add_argument("--lookups", type=int, default=200000)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--port", type=int, default=7391)
    parser.add_argument("--realtime", action="store_true",
                        help="the server's thread and the pings go first (root only): on a busy machine, their delays "
                             "are then the server's own")
    parser.add_argument("--only", default="absent,latency,pauses,moves,restart")
    options = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="bb-redis-bench.")
    server = Server(directory, module=os.path.abspath(options.module), port=options.port,
                    wrapper=["chrt", "--reset-on-fork", "--rr", "5"] if options.realtime else [],
                    client_output_buffer_limit="normal 0 0 0")
    server.start()
    try:
        with server.client() as redis:
            begin = time.monotonic()
            fill(redis, "store", options.fields, options.value)
            print(f"data: {options.fields * options.value / 1e6:.0f} MB in {time.monotonic() - begin:.1f} s")
        if "absent" in options.only:
            print("absent fields")
            measure_absent(server, options.fields, options.lookups)
        if "latency" in options.only:
            print("latency of the event loop")
            measure_latency(server, directory, options.fields, options.seconds)
        if "pauses" in options.only:
            print("pauses")
            measure_child(server, "BGSAVE", ("BGSAVE",), "rdb_bgsave_in_progress")
            measure_child(server, "BGREWRITEAOF", ("BGREWRITEAOF",), "aof_rewrite_in_progress")
            measure_sync(server, directory, vars(options))
        if "moves" in options.only:
            print("moves")
            measure_moves(server, directory, options)
        if "restart" in options.only:
            print("restart")
            measure_restart(server, directory)
    finally:
        server.kill()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
