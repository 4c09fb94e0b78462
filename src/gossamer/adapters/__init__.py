"""The engines behind the ports. `bootstrap`, `reading`, `parser_process` and commands without a crawl construct them.

No stage knows one. An adapter translates once: from the words and exceptions of its library to those of its port. Both
partition stores pass one suite, `tests/contracts`; the others are tested on their real engines. One package for each:

- `http`: an HTTP/1.1 client that keeps every octet, repeats nothing and follows nothing.
- `dns`: names through c-ares, with deadlines and a memory that ends.
- `files`: the data directory; segments that survive a kill, the contact log, snapshots of a filter, syncing.
- `rocksdb`: the partition store. `memory`: the same in a dictionary, for tests and simulations.
- `processes`: parsers as children, frames over a pipe, time limits.
- `system`: clocks, disk space, the lock of a directory, randomness.
"""
