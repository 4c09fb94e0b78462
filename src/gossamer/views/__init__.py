"""The read model: what people and programs see of a crawl, made from rows, never from memory of the crawler.

Everything here reads a consistent view of a partition, also while a crawl runs, and writes nothing. In reading order:

- `forms`: times, hashes and states as they appear in JSON.
- `lookup`: the rows of one URL.
- `status`: the totals; a running process makes the same document from its memory.
- `pages`, `links`, `texts`, `hosts` with `budgets`: lists, a row at a time, for tables and exports.
- `records`: the stored bytes of a capture.
- `problems`: what a check found wrong, all counted and the first kept.
- `why`: every decision about one URL in order (`why_case`: what a step is), with `why_found` (who links to it),
  `why_counts` (what many URLs show), `why_rules` (what the other rules say) and `why_life` (what happened).
- `verify`: the proof that the accounts are right, with `verify_rows` and `verify_queues` (families against
  each other), `verify_seen` (a filter of known URLs), `verify_totals` and `verify_sites` (counts) and `verify_records`
  (bytes).
- `audit`: the proof that every contact was polite.
"""
