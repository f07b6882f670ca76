"""Ports for nodes on loopback."""
import random
import socket

BUS = 10000  # the distance from a node's port for clients to its port for other nodes


def end_of_free_range():
    """The first of the ports that the system gives to connections. A port above it may be free now,
    and taken by a connection before the server listens."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            first = int(file.read().split()[0])
    except OSError:
        first = 32768
    return first if first > 10000 + BUS + 1000 else 65535


def free_port():
    """A port that is free now, with the port of its bus."""
    end = end_of_free_range() - BUS
    for _ in range(1000):
        port = random.randrange(10000, end)
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + BUS))
                return port
            except OSError:
                continue
    raise OSError("no free ports were found")
