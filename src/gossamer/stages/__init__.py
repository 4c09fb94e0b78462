"""The loop: stages that load rows, ask `core`, perform through ports, and report. The map is `gossamer.pipeline`.

A stage decides nothing itself that a rule in `core` could decide, and only the store stage writes to the partition:
the others tell it what happened. In the order of a page's life:

- `opening`: which crawl is meant, a new one or the unfinished one. After a kill `replay` brings the rows of hosts up to
  the end of the contact log.
- `frontier`: hands out `leases`, of the host that may be contacted first (`host_heap`), within its `budgets`; `debuts`
  spreads the first contacts. `front_queues` are the hosts that wait for a place in memory, `workbench` holds those that
  have one (`host_queue`), `judge` says whether one may be asked for a URL now: robots.txt comes before any page.
- `fetch`: one lease to its end, with the gap of its address (`address_gap`); `robots_fetch` for robots.txt, `capture`
  to turn the answer into records.
- `store`: group commit. `ledger` turns what was reported (`events`) into the writes of a batch (`posting`). `admitting`
  takes in what is new: `seen` knows, with `recent_keys` in front, or `bloom_seen` instead (`bloom_start` reads it
  back). Counts are kept in `host_accounts`, which are `tallies` of hosts and `sites`; `host_places` is where each host
  waits, `trap_watch` what its pages show. `room` waits while the disk is full.
- `parse`: the queue of captures to the parsers; `parse_capture` is what happens in a parser's process.
- `runner`: start, drain and stop, in this order and back. `alarm` is how one task wakes another.
"""
