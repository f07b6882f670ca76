"""Ports for nodes on loopback."""
import random
import socket

BUS = 10000  # the distance from a node's port for clients to its port for other nodes


def free_port():
    """A port that is free now, with the port of its bus."""
    for _ in range(1000):
        port = random.randrange(20000, 50000)
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + BUS))
                return port
            except OSError:
                continue
    raise OSError("no free ports were found")
