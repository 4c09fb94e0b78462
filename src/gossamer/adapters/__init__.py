"""The engines behind the ports. Only `bootstrap` constructs them, and no stage knows one.

An adapter translates once: from the words and exceptions of its library to those of its port. Each passes the contract
suite of its port on the real engine. One package for each engine:

- `http`: an HTTP/1.1 client that keeps every octet, repeats nothing and follows nothing.
- `dns`: names through c-ares, with deadlines and a memory that ends.
- `files`: the data directory; segments that survive a kill, the contact log, syncing.
- `rocksdb`: the partition store. `memory`: the same in a dictionary, for tests and simulations.
- `processes`: parsers as children, frames over a pipe, time limits.
- `system`: clocks, disk space, the lock of a directory, randomness.
"""
