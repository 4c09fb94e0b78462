"""Webs to crawl without the web, shipped so that users can test their settings and their own code too.

The *lab* is a real server on loopback addresses that plays many hosts: rules, sitemaps, redirects, charsets, errors,
slow hosts and traps, all computed from a seed. `gossamer lab` serves it. In reading order: `lab_hosts` (who lives
there), `lab_paths`, `lab_links`, `lab_words`, `lab_pages` and `lab_traps` (what they show), `lab_web` (request to
answer), `lab_server` and `lab_access` (sockets and the access log), `lab_process` (running it, here or beside).

The *simulated world* runs the real stages in virtual time: no sockets, no sleeping, a crash wherever a seed says.
`world` puts it together from `sim_loop` (a clock that jumps), `sim_clock`, `sim_web`, `sim_contacts`, `sim_partition`,
`sim_segments`, `sim_snapshots` and `sim_parser`; `accounts` checks what is left behind.
"""
