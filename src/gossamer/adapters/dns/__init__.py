"""Names to addresses through c-ares, which asks /etc/hosts and the system's name servers.

`cache` remembers answers, good and bad, for a bounded time in bounded memory. `resolver` is the port `ports.dns.Dns`:
one look-up in flight per name, each with its own deadline, so that a dead name server delays nobody else.
"""
