//! Passages in the manner of documentation, quotes cut from them, and sentences that say the same in other words.
//!
//! Every sentence is supported by its quote or by the passage around it. They are written to be said the way models say things:
//! units spelt out, "disabled" for "off", clauses turned round, two facts in one sentence.

/// A passage, the words quoted from it, and true sentences about it.
pub(crate) struct Pair {
    pub(crate) passage: &'static str,
    pub(crate) quote: &'static str,
    pub(crate) said: &'static [&'static str],
}

const fn pair(passage: &'static str, quote: &'static str, said: &'static [&'static str]) -> Pair {
    Pair {
        passage,
        quote,
        said,
    }
}

/// All of them.
pub(crate) const PAIRS: &[Pair] = &[
    // Numbers and units.
    pair(
        "log_ring_size (integer)\nHow much memory the log ring may take. Values without a unit are read as kilobytes. The default is 16 MB, and the smallest value is 128 kB.",
        "The default is 16 MB, and the smallest value is 128 kB.",
        &[
            "log_ring_size defaults to 16 megabytes.",
            "Unless you change it, the log ring takes 16 MB and it cannot be set below 128 kB.",
        ],
    ),
    pair(
        "The janitor wakes up every 5 minutes. It visits at most 200 tables in one round and sleeps for 20 milliseconds between two pages.",
        "The janitor wakes up every 5 minutes.",
        &[
            "Every five minutes the janitor wakes up.",
            "The janitor wakes up every 5 minutes and handles up to 200 tables per round.",
            "It wakes up every 300 seconds.",
        ],
    ),
    pair(
        "idle_limit (milliseconds)\nSessions that are idle for longer than this are closed. The default is 0, which turns the limit off. A value of 600000 closes them after 10 minutes.",
        "A value of 600000 closes them after 10 minutes.",
        &[
            "With idle_limit set to 600,000, idle sessions are closed after 10 minutes.",
            "Set it to 600000 to close sessions after ten minutes.",
        ],
    ),
    pair(
        "A snapshot file is kept for 30 days. After 45 days its entry is dropped from the catalog as well.",
        "A snapshot file is kept for 30 days.",
        &[
            "Snapshot files are retained for thirty days.",
            "Snapshots stay for 30 calendar days, and the catalog entry goes after 45 days.",
        ],
    ),
    pair(
        "The planner considers a scan in parallel only if the table is larger than 8 MB. Half a second of planning time is allowed.",
        "only if the table is larger than 8 MB",
        &[
            "A parallel scan is considered only for tables larger than 8MB.",
            "Tables need more than 8 megabytes to get a parallel scan; 500 ms of planning are allowed.",
        ],
    ),
    pair(
        "The cache takes 25% of the machine's memory by default. More than 40 percent is seldom useful.",
        "The cache takes 25% of the machine's memory by default.",
        &[
            "By default a quarter, that is 25 percent, of the memory goes to the cache.",
            "The cache uses 25 % of the memory unless configured otherwise, and more than 40% rarely helps.",
        ],
    ),
    pair(
        "growth_factor (floating point)\nThe share of a table that must have changed before statistics are collected anew. The default is 0.1 (10% of the table).",
        "The default is 0.1 (10% of the table).",
        &[
            "growth_factor defaults to 0.1.",
            "By default statistics are collected anew once 10 percent of the table have changed.",
        ],
    ),
    pair(
        "Names are cut to 63 bytes. An index may have up to 32 columns; that limit can be changed only when the server is built.",
        "Names are cut to 63 bytes.",
        &[
            "A name longer than 63 bytes is cut.",
            "Names are truncated to 63 bytes, and an index can have at most 32 columns.",
        ],
    ),
    pair(
        "Numbers of this type take 8 bytes and range from -9223372036854775808 to +9223372036854775807.",
        "Numbers of this type take 8 bytes",
        &[
            "This type uses eight bytes.",
            "Each number is stored in 8 bytes.",
        ],
    ),
    pair(
        "Identifiers wrap around after about two billion transactions. A warning appears once fewer than 40 million are left.",
        "Identifiers wrap around after about two billion transactions.",
        &[
            "After roughly 2 billion transactions the identifiers wrap around.",
            "Wraparound happens at about two billion transactions; the warning starts with under 40,000,000 left.",
        ],
    ),
    pair(
        "The connection is given up after three failed attempts, each with a timeout of 1.5 seconds.",
        "The connection is given up after three failed attempts",
        &[
            "It gives up after 3 failed attempts.",
            "After three attempts of 1.5 seconds each the connection is given up.",
        ],
    ),
    pair(
        "Between 2 and 8 workers are started. Each of them reads blocks of 64 kB.",
        "Between 2 and 8 workers are started.",
        &[
            "The server starts 2 to 8 workers.",
            "From two up to eight workers are started, reading 64-kilobyte blocks.",
        ],
    ),
    pair(
        "An employee may hand in a claim within 14 days of the trip. Claims over 500 euros need a second signature within five working days.",
        "within 14 days of the trip",
        &[
            "Claims must be handed in within 14 days of the trip.",
            "You have two weeks, that is 14 days, to hand in a claim.",
        ],
    ),
    pair(
        "Statistics are written to disk once an hour, and a full report is made daily.",
        "Statistics are written to disk once an hour",
        &[
            "Every hour the statistics are written to disk.",
            "Statistics are saved hourly, with a full report each day.",
        ],
    ),
    pair(
        "A segment is 16 megabytes (16MB) long unless the cluster was created with another size.",
        "A segment is 16 megabytes (16MB) long",
        &[
            "Each segment is 16 MB long.",
            "Segments have a size of 16MB.",
        ],
    ),
    // Versions.
    pair(
        "Since version 14.2 the tool reads compressed archives. Archives written by 13.9 or older cannot be read.",
        "Since version 14.2 the tool reads compressed archives.",
        &[
            "Compressed archives can be read as of version 14.2.",
            "From v14.2 on the tool reads compressed archives.",
        ],
    ),
    pair(
        "Upgrading from release 9.6 needs a dump. From release 10 onwards the files can be taken over in place.",
        "Upgrading from release 9.6 needs a dump.",
        &[
            "You need a dump to upgrade from version 9.6.",
            "Release 9.6 requires a dump, while release 10 and later can be upgraded in place.",
        ],
    ),
    pair(
        "The clause was added in PostgreSQL 15 and is accepted but ignored in PostgreSQL 14.8.",
        "The clause was added in PostgreSQL 15",
        &[
            "PostgreSQL 15 added the clause.",
            "Before PostgreSQL 15 the clause did nothing; PostgreSQL 14.8 accepts and ignores it.",
        ],
    ),
    pair(
        "Clients older than version 3.1 do not speak this protocol.",
        "Clients older than version 3.1 do not speak this protocol.",
        &[
            "Version 3.1 of the client is the oldest that speaks this protocol.",
            "Clients before version 3.1 don't speak the protocol.",
        ],
    ),
    pair(
        "As of version 17.2 the setting is read at reload; up to version 16 a restart was needed.",
        "As of version 17.2 the setting is read at reload",
        &[
            "A reload is enough since version 17.2.",
            "Version 17.2 reads the setting at reload, but version 16 needed a restart.",
        ],
    ),
    // Names.
    pair(
        "Use ring_buffer_limit to bound the buffer and ring_buffer_wait to bound the wait. Both are read at start.",
        "Use ring_buffer_limit to bound the buffer",
        &[
            "The buffer is bounded by `ring_buffer_limit`.",
            "ring_buffer_limit bounds the buffer, ring_buffer_wait the wait.",
        ],
    ),
    pair(
        "The function split_part_at(text, integer) returns the piece at the given place. It raises 22P07 if the place is negative.",
        "The function split_part_at(text, integer) returns the piece at the given place.",
        &[
            "split_part_at() gives the piece at a place.",
            "`split_part_at` returns one piece and raises SQLSTATE 22P07 for a negative place.",
        ],
    ),
    pair(
        "pg_pack -Zx writes an archive that pg_unpack reads. The option --skip-owners leaves out who owns what.",
        "pg_pack -Zx writes an archive that pg_unpack reads.",
        &[
            "An archive written with pg_pack -Zx can be read by pg_unpack.",
            "Use `pg_pack -Zx` for archives; `--skip-owners` leaves out the owners.",
        ],
    ),
    pair(
        "The operator @~ tests whether a path holds another one; @~~ does the same without regard to case.",
        "The operator @~ tests whether a path holds another one",
        &[
            "Whether one path holds another is tested with `@~`.",
            "The @~ operator tests whether a path contains another one.",
        ],
    ),
    pair(
        "Columns of type intrange8 accept NULL unless NOT NULL is given. The type intrange4 is half as wide.",
        "Columns of type intrange8 accept NULL",
        &[
            "An intrange8 column may be NULL.",
            "intrange8 columns accept NULL.",
        ],
    ),
    pair(
        "Put the line into access_map.conf and reload with LOAD SETTINGS. The error 28P51 means that no line matched.",
        "Put the line into access_map.conf",
        &[
            "The line belongs into access_map.conf.",
            "Add the line to `access_map.conf`, then run LOAD SETTINGS.",
        ],
    ),
    pair(
        "MERGE JOIN HINTS are read by the planner if plan_hints is on. EXPLAIN shows which of them were used.",
        "EXPLAIN shows which of them were used",
        &[
            "EXPLAIN tells you which hints were used.",
            "With plan_hints on, EXPLAIN shows the hints that were used.",
        ],
    ),
    pair(
        "Roles that have the attribute BYPASSAUDIT are left out of the audit log. Superusers have it always.",
        "Roles that have the attribute BYPASSAUDIT are left out of the audit log.",
        &[
            "A role with BYPASSAUDIT does not appear in the audit log.",
            "BYPASSAUDIT keeps a role out of the audit log.",
        ],
    ),
    pair(
        "The mode may be strict, relaxed or silent. The write-ahead log holds a record for each change of it.",
        "The mode may be strict, relaxed or silent.",
        &[
            "Possible modes are `strict`, `relaxed` and `silent`.",
            "You can choose the mode 'strict', 'relaxed' or 'silent', and the WAL holds a record for each change.",
        ],
    ),
    pair(
        "Call refresh_now('sales') to bring the summary up to date, or let refresh_later() do it at night.",
        "Call refresh_now('sales') to bring the summary up to date",
        &[
            "refresh_now() brings the summary up to date.",
            "Use refresh_now('sales') for the summary; at night refresh_later() does it.",
        ],
    ),
    // On and off.
    pair(
        "sync_strict (boolean)\nWaits for the disk at each commit. This parameter is on by default. Only superusers can change it.",
        "This parameter is on by default.",
        &[
            "sync_strict is enabled by default.",
            "By default, sync_strict is on.",
            "It is turned on by default.",
        ],
    ),
    pair(
        "trace_plans (boolean)\nWrites each plan to the log. The default is off.",
        "The default is off.",
        &[
            "trace_plans is disabled by default.",
            "Plans are not logged unless you enable it, for it is off by default.",
            "By default trace_plans is `off`.",
            "It isn't enabled by default.",
        ],
    ),
    pair(
        "Compression is disabled when the build lacks the library. To enable it, install the library and set pack_pages to on.",
        "Compression is disabled when the build lacks the library.",
        &[
            "Without the library compression is off.",
            "Compression is turned off if the build lacks the library.",
        ],
    ),
    pair(
        "If row checks are enabled, each row is looked at twice. They are not enabled for owners.",
        "If row checks are enabled, each row is looked at twice.",
        &[
            "With row checks on, every row is looked at twice.",
            "Enabling row checks means that each row is looked at two times.",
        ],
    ),
    pair(
        "Turn off the autosave while loading. Turning it on again afterwards is up to you.",
        "Turn off the autosave while loading.",
        &[
            "Autosave should be disabled during the load.",
            "Disable autosave while you load data.",
            "While loading, turn the autosave off.",
        ],
    ),
    pair(
        "The setting keep_alive = on makes the server ask the client now and then whether it is there.",
        "keep_alive = on makes the server ask the client",
        &[
            "When keep_alive is on, the server asks the client.",
            "With keep_alive enabled the server asks the client whether it is still there.",
        ],
    ),
    pair(
        "Statement caching is not enabled by default, since it takes memory in each session.",
        "Statement caching is not enabled by default",
        &[
            "By default, statement caching is disabled.",
            "Statement caching is off by default.",
            "Caching of statements isn't on by default because it takes memory.",
        ],
    ),
    // Negation.
    pair(
        "A check cannot refer to other rows. It sees the row that is written and nothing else.",
        "A check cannot refer to other rows.",
        &[
            "Checks can't refer to other rows.",
            "A check may not refer to rows other than the one written.",
            "It is not possible to refer to other rows in a check.",
        ],
    ),
    pair(
        "The statement must be the first of a transaction. It cannot be run inside a function.",
        "It cannot be run inside a function.",
        &[
            "The statement can't be executed inside a function.",
            "Running it inside a function is not possible.",
        ],
    ),
    pair(
        "Views are supported on both sides. Tables without a key are not supported on the receiving side.",
        "Tables without a key are not supported on the receiving side.",
        &[
            "The receiving side does not support tables without a key.",
            "Tables that have no key are unsupported on the receiving side.",
        ],
    ),
    pair(
        "Gaps in the numbers are never filled. A number once given out is not taken back, even if the transaction fails.",
        "A number once given out is not taken back, even if the transaction fails.",
        &[
            "Once a number has been given out it is never taken back.",
            "Numbers are not taken back if the transaction fails.",
        ],
    ),
    pair(
        "Plain reads do not wait for row locks. They block only writers of the same row.",
        "Plain reads do not wait for row locks.",
        &[
            "Row locks do not make plain reads wait.",
            "A plain read never waits for row locks.",
            "Plain reads don't have to wait for row locks.",
        ],
    ),
    pair(
        "The rebuild takes no lock that prevents writes, so the table stays usable.",
        "The rebuild takes no lock that prevents writes",
        &[
            "Rebuilding does not take a lock that blocks writes.",
            "The rebuild allows writes because it takes no lock that prevents them.",
        ],
    ),
    pair(
        "The order of keys is not preserved, and duplicate keys are not kept.",
        "The order of keys is not preserved",
        &[
            "It doesn't preserve the order of keys.",
            "The key order is not retained and neither are duplicate keys.",
        ],
    ),
    pair(
        "Statistics are kept after a clean shutdown. After a crash they are not kept, but counted anew.",
        "After a crash they are not kept, but counted anew.",
        &[
            "Statistics are not kept after a crash.",
            "A crash means the statistics aren't kept and counting begins anew.",
        ],
    ),
    pair(
        "The password is stored as a hash. The clear text is not sent over the network and is not written to the log.",
        "The clear text is not sent over the network and is not written to the log.",
        &[
            "The password's clear text is never sent over the network.",
            "Clear text is neither sent over the network nor written to the log.",
        ],
    ),
    pair(
        "Indexes are used for equality tests. They can be used with patterns that are anchored at the start.",
        "They can be used with patterns that are anchored at the start.",
        &[
            "Indexes can be used for patterns anchored at the start.",
            "A pattern that is anchored at the start can use an index.",
        ],
    ),
    pair(
        "The export is consistent even if the database is in use. It does not block other users.",
        "The export is consistent even if the database is in use.",
        &[
            "An export is consistent although the database is in use.",
            "The export is still consistent while the database is being used.",
        ],
    ),
    pair(
        "The archive can be restored selectively. Its items may be put into another order.",
        "The archive can be restored selectively.",
        &[
            "You can restore the archive selectively.",
            "Selective restores of the archive are possible.",
        ],
    ),
    pair(
        "The trigger is fired for each row. Its return value is ignored if it runs after the change.",
        "Its return value is ignored if it runs after the change.",
        &[
            "If it runs after the change, the trigger's return value is ignored.",
            "The return value of a trigger that runs after the change does not matter; it is ignored.",
        ],
    ),
    pair(
        "No fall-back takes place: if the first rule refuses, later rules are not tried.",
        "if the first rule refuses, later rules are not tried",
        &[
            "Later rules are not tried once the first one refuses.",
            "There is no fall-back to later rules.",
        ],
    ),
    pair(
        "Only the owner may drop the queue. Others may read it if they were granted the right.",
        "Only the owner may drop the queue.",
        &[
            "The queue can be dropped only by its owner.",
            "Only its owner can drop a queue.",
            "Nobody but the owner may drop the queue.",
        ],
    ),
    pair(
        "A role must have the LOGIN right in order to connect. It need not own anything.",
        "A role must have the LOGIN right in order to connect.",
        &[
            "To connect, a role must have the LOGIN right.",
            "Connecting requires the LOGIN right.",
        ],
    ),
    pair(
        "The trailing comma is optional. The keyword before it is required.",
        "The trailing comma is optional.",
        &[
            "You may leave out the trailing comma, it's optional.",
            "The trailing comma is not required.",
        ],
    ),
    // Before and after.
    pair(
        "Take the base copy before you start the archive. The archive is of no use otherwise.",
        "Take the base copy before you start the archive.",
        &[
            "The base copy has to be taken before the archive is started.",
            "Start the archive after you have taken the base copy.",
            "Before starting the archive, take the base copy.",
        ],
    ),
    pair(
        "Constraints are checked after each statement, and deferred ones before the commit.",
        "Constraints are checked after each statement",
        &[
            "After each statement the constraints are checked.",
            "Constraint checks happen after every statement.",
        ],
    ),
    pair(
        "The log record is written before the data page. This is what makes recovery possible.",
        "The log record is written before the data page.",
        &[
            "The data page is written after the log record.",
            "A log record reaches the disk before its data page.",
        ],
    ),
    pair(
        "Rules are applied after the filter and before the sort.",
        "Rules are applied after the filter",
        &[
            "The rules are applied after the filter.",
            "After the filter come the rules, which run before the sort.",
        ],
    ),
    pair(
        "The change takes effect after a restart. A reload is not enough.",
        "The change takes effect after a restart.",
        &[
            "It takes effect only after a restart.",
            "After a restart the change takes effect.",
        ],
    ),
    pair(
        "Shut down the old server before running the upgrade. After the upgrade, collect statistics.",
        "Shut down the old server before running the upgrade.",
        &[
            "The old server must be shut down before the upgrade is run.",
            "Before the upgrade, shut down the old server.",
        ],
    ),
    pair(
        "Travel is booked after the manager has approved it.",
        "Travel is booked after the manager has approved it.",
        &[
            "Book travel after your manager has approved it.",
            "The manager approves the trip before it is booked.",
        ],
    ),
    // Minimum and maximum.
    pair(
        "At least two standbys must confirm a commit. At most nine can be named.",
        "At least two standbys must confirm a commit.",
        &[
            "A commit must be confirmed by at least 2 standbys.",
            "The minimum is two standbys that confirm the commit.",
        ],
    ),
    pair(
        "The maximum number of sessions is 100 unless it is configured.",
        "The maximum number of sessions is 100",
        &[
            "At most 100 sessions are possible by default.",
            "Up to 100 sessions are allowed unless configured otherwise.",
            "The maximum is 100 sessions.",
        ],
    ),
    pair(
        "page_floor sets the minimum number of pages that is read at once. The default is 4.",
        "page_floor sets the minimum number of pages that is read at once.",
        &[
            "page_floor is the minimum number of pages read at once.",
            "At least page_floor pages are read at once.",
        ],
    ),
    pair(
        "A name may have up to 30 letters. Longer names are cut without a warning.",
        "A name may have up to 30 letters.",
        &[
            "Names can have at most 30 letters.",
            "The maximum length of a name is 30 letters.",
            "No more than 30 letters are allowed in a name.",
        ],
    ),
    pair(
        "Keep a minimum of 10 percent of the disk free. The service stops below 5 percent.",
        "Keep a minimum of 10 percent of the disk free.",
        &[
            "At least 10% of the disk should be kept free.",
            "Keep at least ten percent of the disk free.",
        ],
    ),
    pair(
        "Requests wait no longer than 30 seconds for a lock.",
        "Requests wait no longer than 30 seconds for a lock.",
        &[
            "A request waits at most 30 seconds for a lock.",
            "The maximum wait for a lock is 30 s.",
        ],
    ),
    pair(
        "Employees have a minimum of 25 days of leave, of which at most 5 can be carried over.",
        "a minimum of 25 days of leave",
        &[
            "You get at least 25 days of leave.",
            "The minimum leave is 25 days.",
        ],
    ),
    // Other pairs.
    pair(
        "A larger buffer makes checkpoints less frequent. It increases the time that recovery takes.",
        "A larger buffer makes checkpoints less frequent.",
        &[
            "Increasing the buffer makes checkpoints less frequent.",
            "With a larger buffer there are fewer checkpoints.",
        ],
    ),
    pair(
        "Increasing work_area speeds up sorts. It should be raised with care, for each session takes as much.",
        "Increasing work_area speeds up sorts.",
        &[
            "Sorts get faster if you increase work_area.",
            "Raising work_area speeds sorts up.",
        ],
    ),
    pair(
        "The lock prevents others from changing the table, but allows them to read it.",
        "The lock prevents others from changing the table, but allows them to read it.",
        &[
            "While the lock is held others can read the table but not change it.",
            "Others are allowed to read the table but prevented from changing it.",
        ],
    ),
    pair(
        "The lower bound is inclusive and the upper bound is exclusive.",
        "The lower bound is inclusive and the upper bound is exclusive.",
        &[
            "The lower bound is included, the upper bound excluded.",
            "Lower bounds are inclusive and upper bounds exclusive.",
        ],
    ),
    pair(
        "Cascaded copies are asynchronous at present. Synchronous settings have no effect on them.",
        "Cascaded copies are asynchronous at present.",
        &[
            "At present, cascaded copying is asynchronous.",
            "Cascaded copies are currently asynchronous.",
        ],
    ),
    pair(
        "Keys sort in ascending order with nulls last; in descending order nulls come first.",
        "Keys sort in ascending order with nulls last; in descending order nulls come first.",
        &[
            "Nulls come last in ascending order and first in descending order.",
            "In ascending order nulls are last.",
        ],
    ),
    pair(
        "A failed job is always started again. A job that was stopped by hand is sometimes started again.",
        "A failed job is always started again.",
        &[
            "Failed jobs are always restarted, that is, started again.",
            "It always starts a failed job again.",
        ],
    ),
    pair(
        "The value must not be changed while the server runs. It may be read by anyone.",
        "The value must not be changed while the server runs.",
        &[
            "You must not change the value while the server runs.",
            "While the server is running, the value mustn't be changed.",
        ],
    ),
    pair(
        "The export fails if a table is locked. To avoid this, use --wait-for-locks.",
        "The export fails if a table is locked.",
        &[
            "If a table is locked, the export fails.",
            "A locked table makes the export fail; --wait-for-locks avoids that.",
        ],
    ),
    pair(
        "Empty strings are different from null. Two nulls are not equal to each other.",
        "Two nulls are not equal to each other.",
        &[
            "Nulls are not equal to one another.",
            "Two nulls aren't equal.",
        ],
    ),
    // More of what is easily turned round.
    pair(
        "Indexes are dropped before a bulk load and built anew after it. Building them afterwards is quicker than keeping them.",
        "Indexes are dropped before a bulk load and built anew after it.",
        &[
            "Drop indexes before a bulk load.",
            "After a bulk load, indexes are built anew.",
            "Indexes should be dropped before a bulk load and built again after it.",
        ],
    ),
    pair(
        "A standby replays the log after it has been received. Before it can be promoted, the replay has to end.",
        "Before it can be promoted, the replay has to end.",
        &[
            "The replay has to end before the standby can be promoted.",
            "A standby can be promoted after the replay has ended.",
        ],
    ),
    pair(
        "The hook runs before the row is stored, so that it may still change the row. Hooks that run after it see the stored row.",
        "The hook runs before the row is stored",
        &[
            "Before the row is stored, the hook runs.",
            "The hook is run before the row is stored and may change it.",
            "The row is stored after the hook has run.",
        ],
    ),
    pair(
        "Expenses are paid after the end of the month. Receipts are handed in before the fifth of the next month.",
        "Receipts are handed in before the fifth of the next month.",
        &[
            "Hand in receipts before the fifth of the next month.",
            "Receipts must be in before the fifth of the next month, and expenses are paid after the end of the month.",
        ],
    ),
    pair(
        "Passwords expire after ninety days. A reminder is sent a week before they expire.",
        "Passwords expire after ninety days.",
        &[
            "A password expires after 90 days.",
            "After ninety days passwords expire, and a reminder comes before that.",
        ],
    ),
    pair(
        "The queue is emptied before shutdown. New requests are refused after the signal has been sent.",
        "New requests are refused after the signal has been sent.",
        &[
            "After the signal has been sent, new requests are refused.",
            "Once the signal is sent new requests are refused, and the queue is emptied before shutdown.",
        ],
    ),
    pair(
        "The background writer is switched off on standbys. It is on everywhere else.",
        "The background writer is switched off on standbys.",
        &[
            "On standbys the background writer is disabled.",
            "Standbys have the background writer turned off.",
        ],
    ),
    pair(
        "Encryption is enabled for all connections and can't be disabled for remote ones.",
        "Encryption is enabled for all connections",
        &[
            "All connections have encryption enabled.",
            "Encryption is on for all connections.",
        ],
    ),
    pair(
        "two_step (boolean)\nCommits in two steps. Off by default; when enabled, each commit costs another write.",
        "Off by default; when enabled, each commit costs another write.",
        &[
            "two_step is off by default.",
            "When it is enabled, each commit costs one more write.",
        ],
    ),
    pair(
        "A materialized summary is not updated when its tables change. It has to be refreshed by hand.",
        "A materialized summary is not updated when its tables change.",
        &[
            "Materialized summaries are not updated when the tables change.",
            "A change of its tables does not update the summary.",
            "You have to refresh the summary by hand.",
        ],
    ),
    pair(
        "Temporary tables are visible to their own session. They are dropped at its end and are not logged.",
        "They are dropped at its end and are not logged.",
        &[
            "Temporary tables are dropped at the end of the session.",
            "Temporary tables aren't logged.",
            "They are not logged, and they are dropped at the session's end.",
        ],
    ),
    pair(
        "Visitors may not enter the laboratory without a badge. Staff can enter it at any time.",
        "Visitors may not enter the laboratory without a badge.",
        &[
            "Visitors cannot enter the laboratory without a badge.",
            "Staff can enter the laboratory at any time.",
        ],
    ),
    pair(
        "The number of retries is at most five, and each waits at least two seconds.",
        "The number of retries is at most five, and each waits at least two seconds.",
        &[
            "There are at most 5 retries, each of which waits at least 2 seconds.",
            "A retry waits for a minimum of two seconds.",
        ],
    ),
    pair(
        "Parallel scans are not used for tables that are smaller than the limit. Sequential scans are used for them instead.",
        "Parallel scans are not used for tables that are smaller than the limit.",
        &[
            "Tables smaller than the limit are never scanned in parallel.",
            "For tables below the limit, parallel scans are not used.",
        ],
    ),
    pair(
        "If the archive command fails, the segment is kept and tried again later. The server does not remove it until it has been archived.",
        "The server does not remove it until it has been archived.",
        &[
            "A segment is not removed before it has been archived.",
            "Segments are kept until they have been archived.",
            "When the archive command fails the segment is tried again.",
        ],
    ),
    pair(
        "A unique index treats nulls as different values unless NULLS NOT DISTINCT is given.",
        "A unique index treats nulls as different values unless NULLS NOT DISTINCT is given.",
        &[
            "Nulls are considered different in a unique index unless NULLS NOT DISTINCT is specified.",
            "With NULLS NOT DISTINCT, nulls are not treated as different values.",
        ],
    ),
    pair(
        "The view shows one row for each backend. Rows of other users are visible only to members of read_all_stats.",
        "Rows of other users are visible only to members of read_all_stats.",
        &[
            "Only members of read_all_stats can see the rows of other users.",
            "You need to be a member of read_all_stats to see other users' rows.",
            "There is one row per backend, and others' rows are visible only to members of read_all_stats.",
        ],
    ),
    pair(
        "Since a plain build locks out writes, a busy table is better rebuilt with QUIETLY, which does not lock out writes but takes longer.",
        "which does not lock out writes but takes longer",
        &[
            "QUIETLY takes longer but doesn't lock out writes.",
            "A rebuild with QUIETLY takes longer than a plain one.",
        ],
    ),
    pair(
        "Employees on probation cannot take more than five days of leave in the first three months.",
        "Employees on probation cannot take more than five days of leave",
        &[
            "On probation you can take at most five days of leave in the first three months.",
            "No more than five days of leave may be taken during probation.",
            "Employees on probation may not take more than 5 days of leave.",
        ],
    ),
    pair(
        "Sorting needs memory once per operation, so a query may use several times the value of sort_area. Setting it too high is dangerous.",
        "a query may use several times the value of sort_area",
        &[
            "One query can use several times the value of `sort_area`.",
            "sort_area applies to each operation, so that a query may use a multiple of it.",
        ],
    ),
    pair(
        "The statement fails with an error if the table exists already. With IF NOT EXISTS a notice is issued instead.",
        "With IF NOT EXISTS a notice is issued instead.",
        &[
            "IF NOT EXISTS issues a notice rather than an error.",
            "If the table exists already, the statement fails unless IF NOT EXISTS is given.",
            "With IF NOT EXISTS there is no error but a notice.",
        ],
    ),
    pair(
        "Neither the owner nor a superuser is exempt from the limit. Background jobs are exempt.",
        "Neither the owner nor a superuser is exempt from the limit.",
        &[
            "Superusers are not exempt from the limit.",
            "The limit applies to owners and superusers too; background jobs are exempt.",
        ],
    ),
    pair(
        "The counter is reset to zero at midnight UTC. It is not reset when the server restarts.",
        "It is not reset when the server restarts.",
        &[
            "A restart of the server does not reset the counter.",
            "At midnight UTC the counter is reset to zero.",
            "The counter is reset at midnight but not when the server restarts.",
        ],
    ),
];
