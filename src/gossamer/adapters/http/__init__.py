"""The web over sockets: one small HTTP/1.1 client that keeps every octet and repeats nothing.

Read in this order. `limits` says what an exchange may cost. `request_head` writes the octets that are sent. `reader`
takes the octets that come and knows when they are one whole answer; it has no clock and no socket, the grammar itself
is `core.http_message`. `connection` joins a reader to a transport and a timer. `pool` keeps idle connections, one an
origin. `faults` translates what the system calls errors into our reasons, once. `client` is the port `ports.web.Web`.

Why no library does this: docs/adr/0002-own-http-client.md.
"""
