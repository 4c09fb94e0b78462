"""The rules of the crawler: pure functions and the values that they take and give.

Nothing here opens, waits, logs, reads a clock or draws a number: `now` and random draws are arguments. Nothing that
comes from the web raises: it is a value, an outcome, a verdict. So each rule can be read alone, tested by example and
by property, and asked from the command line. In reading order:

- What happens to a URL. `url` (normal form, key, host, site), `admission` with `scope` and `traps` (is a link
  followed), `site_traps` with `patterns` (what a host's many URLs show) and `visits` (its session parameters),
  `budget` with `star` (is there room), `outcome` (how a contact can end), `answers` and `redirects` (from an answer to
  an outcome), `url_life` (from an outcome to a state).
- Who comes first. `priority` (of a URL, and the front queue of its host), `workbench` (how many hosts must be in
  memory).
- When a host is contacted. `politeness` (the rest after each contact), `breaker` (of a host that only fails),
  `backoff` (the ladder of one URL), `retry_after`, `robots` (what a robots.txt says), `robots_copy` (what holds while
  it can't be had), `robots_gate` (both with the host's delay: may a URL be asked for), `addresses` (whom we never
  contact), `connect_to` (labs that stand in for hosts), `pace` (rate and time left).
- What an answer holds. `http_message` (octets to fields), `decoding` (content codings, bounded) with `deflate`,
  `charset` with `encodings`, then by kind: `html`, `text`, `fingerprint`, put together in `page`; `sitemap` and
  `feed`, both on `loose_xml`.
- What is kept. `rows` and `keys` (the state on disk), `bloom` and `bloom_saved` (a filter of known URLs), `messages`
  (what crosses a process border), `warc` and `cdxj` (records and their index), `contacts` (records of the contact log).
- Whether it was polite. `audit` replays the contact log, with `audit_pace` (the rules about time) and `audit_robots`;
  `replay` takes in what a kill cut off.
"""
