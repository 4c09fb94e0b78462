"""What the stages need of the world, as small protocols, each with its promises: ordering, durability, what may fail.

A port exists only where there are two real implementations: an engine, and one in memory or in a simulated world. The
promises of the partition store are a suite that both pass (`tests/contracts`); those of the others are tested on each
adapter. Errors of libraries never pass a port: what the web does comes back as a value, what the machine does is raised
as an exception that is named here. In reading order:

- `clock`: wall and monotonic time, and waiting for a moment.
- `dns` and `web`: a name to addresses, a request to an answer. Neither repeats or follows anything by itself.
- `contacts`: the log that is written before the first byte.
- `segments` and `segment_reading`: appending records, syncing them, reading them by key.
- `partition_store`: the families of the state, read directly, written in atomic batches by one writer.
- `seen_snapshots`: the saved filter of known URLs, published whole.
- `parsing`: captures to a parser, and what it made of them, or that it died.
- `disk`: how much room there is.
"""
