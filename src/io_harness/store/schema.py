"""The tables, their versions, and what a store must look like to be one."""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x696F6831
"""What SQLite's header says of the file: "ioh1"."""

# A column of type ANY holds text (bytes where it is not valid text without NUL); those marked
# "ref" may hold the id of a row of `texts` instead, where the text is long.
_FIRST: Final = """
CREATE TABLE origins (
    run INTEGER PRIMARY KEY, run_id ANY NOT NULL UNIQUE) STRICT;
CREATE TABLE runs (
    run INTEGER PRIMARY KEY REFERENCES origins, run_id ANY NOT NULL,
    goal ANY NOT NULL, workspace ANY NOT NULL,
    contract ANY NOT NULL, provider ANY NOT NULL, model ANY NOT NULL, policy ANY NOT NULL,
    started TEXT NOT NULL, parent ANY, outcome ANY, reason ANY NOT NULL, finished TEXT) STRICT;
CREATE TABLE progress (
    run INTEGER PRIMARY KEY REFERENCES runs, holder TEXT, expires REAL,
    prompt INTEGER, pieces INTEGER, manifest ANY, state ANY) STRICT;
CREATE TABLE texts (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, chars INTEGER NOT NULL,
    packed INTEGER NOT NULL, body ANY NOT NULL, head TEXT) STRICT;
CREATE TABLE text_uses (
    text INTEGER NOT NULL REFERENCES texts, run INTEGER NOT NULL REFERENCES origins,
    PRIMARY KEY (text, run)) STRICT, WITHOUT ROWID;
CREATE TABLE versions (
    id INTEGER PRIMARY KEY, base INTEGER, depth INTEGER NOT NULL, segments BLOB NOT NULL,
    novel ANY NOT NULL) STRICT;
CREATE TABLE steps (
    run INTEGER NOT NULL REFERENCES runs, step INTEGER NOT NULL,
    decision ANY, stop ANY, reasoning ANY, prompt INTEGER REFERENCES versions,
    input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER,
    reported INTEGER NOT NULL, committed INTEGER NOT NULL,
    PRIMARY KEY (run, step)) STRICT, WITHOUT ROWID;
CREATE TABLE calls (
    run INTEGER NOT NULL REFERENCES runs, step INTEGER NOT NULL, call INTEGER NOT NULL,
    call_id ANY NOT NULL, name ANY NOT NULL, arguments ANY NOT NULL, raw INTEGER NOT NULL,
    started ANY, PRIMARY KEY (run, step, call)) STRICT, WITHOUT ROWID;
CREATE TABLE observations (
    run INTEGER NOT NULL REFERENCES runs, step INTEGER NOT NULL, call INTEGER NOT NULL,
    kind TEXT NOT NULL, target ANY, text ANY NOT NULL, args ANY,
    first_line INTEGER, last_line INTEGER, total_lines INTEGER,
    scope ANY, key ANY, digest ANY, paths ANY,
    PRIMARY KEY (run, step, call)) STRICT, WITHOUT ROWID;
CREATE TABLE refreshes (
    run INTEGER NOT NULL REFERENCES runs, step INTEGER NOT NULL, position INTEGER NOT NULL,
    first_line INTEGER, last_line INTEGER, total_lines INTEGER, digest ANY, text ANY, reason ANY,
    PRIMARY KEY (run, step, position)) STRICT, WITHOUT ROWID;
CREATE TABLE context_events (
    run INTEGER NOT NULL REFERENCES origins, step INTEGER NOT NULL, sequence INTEGER NOT NULL,
    kind TEXT NOT NULL, detail ANY, est_section INTEGER, est_request INTEGER,
    input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER,
    carried INTEGER, stubbed INTEGER, reread INTEGER,
    call INTEGER, pieces INTEGER REFERENCES versions,
    PRIMARY KEY (run, step, sequence)) STRICT, WITHOUT ROWID;
CREATE TABLE provider_calls (
    run INTEGER NOT NULL REFERENCES runs, step INTEGER NOT NULL, attempt INTEGER NOT NULL,
    kind TEXT NOT NULL, latency REAL NOT NULL,
    input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, detail ANY NOT NULL,
    PRIMARY KEY (run, step, attempt)) STRICT, WITHOUT ROWID;
CREATE TABLE workspaces (
    workspace INTEGER PRIMARY KEY, name ANY NOT NULL UNIQUE, last_seq INTEGER NOT NULL) STRICT;
CREATE TABLE memory (
    workspace INTEGER NOT NULL REFERENCES workspaces, key ANY NOT NULL, value ANY NOT NULL,
    chars INTEGER NOT NULL, run INTEGER NOT NULL REFERENCES origins, step INTEGER NOT NULL,
    source ANY NOT NULL, seq INTEGER NOT NULL, pinned INTEGER NOT NULL,
    first_written TEXT NOT NULL, written TEXT NOT NULL, rewrites INTEGER NOT NULL,
    PRIMARY KEY (workspace, key)) STRICT, WITHOUT ROWID;
CREATE TABLE memory_recalls (
    run INTEGER NOT NULL REFERENCES runs, workspace INTEGER NOT NULL REFERENCES workspaces,
    seq INTEGER NOT NULL, step INTEGER NOT NULL, key ANY NOT NULL, note_run_id ANY NOT NULL,
    note_step INTEGER NOT NULL, PRIMARY KEY (run, workspace, seq)) STRICT, WITHOUT ROWID;
CREATE VIEW log AS
    SELECT run_id, step, call, kind, target, coalesce(chars, length(text)) AS chars,
        coalesce(head, substr(CASE typeof(text) WHEN 'integer' THEN body ELSE text END, 1, 400))
            AS head
    FROM observations JOIN runs USING (run)
        LEFT JOIN texts ON typeof(text) = 'integer' AND texts.id = observations.text;
CREATE VIEW turns AS
    SELECT run_id, step,
        coalesce(head, substr(CASE typeof(decision) WHEN 'integer' THEN body ELSE decision END,
            1, 400)) AS decision,
        (SELECT group_concat(name, ', ') FROM calls
            WHERE calls.run = steps.run AND calls.step = steps.step) AS calls,
        stop, input, cache_read AS cached, output, committed
    FROM steps JOIN runs USING (run)
        LEFT JOIN texts ON typeof(decision) = 'integer' AND texts.id = decision;
CREATE VIEW requests AS
    SELECT run_id, provider, model, step, est_section, est_request,
        input, cache_read AS cached, output, carried, stubbed, reread
    FROM context_events JOIN runs USING (run)
    WHERE kind = 'assembled';
CREATE VIEW drift AS
    SELECT run_id, provider, model, count(*) AS requests, sum(est_request) AS estimated,
        sum(input) AS reported, 1.0 * sum(input) / nullif(sum(est_request), 0) AS ratio
    FROM context_events JOIN runs USING (run)
    WHERE kind = 'assembled' AND input IS NOT NULL
    GROUP BY run;
CREATE VIEW notes AS
    SELECT name AS workspace, key, value, run_id, step, source, seq, pinned,
        first_written, written, rewrites
    FROM memory JOIN workspaces USING (workspace) JOIN origins USING (run);
"""

# Texts are found by a part of their digest, for an index of whole ones takes as much room as
# they do; their rows say in which form a body is. Views for all that people ask. Datasette shows
# no table that refers to one with names unless the column is spelled out.
_SECOND: Final = """
DROP VIEW log;
DROP VIEW turns;
DROP VIEW requests;
DROP VIEW drift;
DROP VIEW notes;
CREATE TABLE new_texts (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL, chars INTEGER NOT NULL,
    packed INTEGER NOT NULL, body ANY NOT NULL, head TEXT) STRICT;
INSERT INTO new_texts SELECT * FROM texts;
DROP TABLE texts;
ALTER TABLE new_texts RENAME TO texts;
CREATE INDEX texts_by_digest ON texts (substr(digest, 1, 8));
CREATE TABLE new_memory (
    workspace INTEGER NOT NULL REFERENCES workspaces (workspace), key ANY NOT NULL,
    value ANY NOT NULL, chars INTEGER NOT NULL, run INTEGER NOT NULL REFERENCES origins (run),
    step INTEGER NOT NULL, source ANY NOT NULL, seq INTEGER NOT NULL, pinned INTEGER NOT NULL,
    first_written TEXT NOT NULL, written TEXT NOT NULL, rewrites INTEGER NOT NULL,
    PRIMARY KEY (workspace, key)) STRICT, WITHOUT ROWID;
INSERT INTO new_memory SELECT * FROM memory;
DROP TABLE memory;
ALTER TABLE new_memory RENAME TO memory;
CREATE TABLE new_recalls (
    run INTEGER NOT NULL REFERENCES runs (run),
    workspace INTEGER NOT NULL REFERENCES workspaces (workspace),
    seq INTEGER NOT NULL, step INTEGER NOT NULL, key ANY NOT NULL, note_run_id ANY NOT NULL,
    note_step INTEGER NOT NULL, PRIMARY KEY (run, workspace, seq)) STRICT, WITHOUT ROWID;
INSERT INTO new_recalls SELECT * FROM memory_recalls;
DROP TABLE memory_recalls;
ALTER TABLE new_recalls RENAME TO memory_recalls;
CREATE VIEW log AS
    SELECT run_id, step, call, kind, target, coalesce(chars, length(text)) AS chars,
        coalesce(head, substr(CASE typeof(text) WHEN 'integer' THEN body ELSE text END, 1, 400))
            AS head
    FROM observations JOIN runs USING (run)
        LEFT JOIN texts ON typeof(text) = 'integer' AND texts.id = observations.text;
CREATE VIEW turns AS
    SELECT run_id, step,
        coalesce(head, substr(CASE typeof(decision) WHEN 'integer' THEN body ELSE decision END,
            1, 400)) AS decision,
        (SELECT group_concat(name, ', ') FROM calls
            WHERE calls.run = steps.run AND calls.step = steps.step) AS calls,
        stop, input, cache_read AS cached, output, committed
    FROM steps JOIN runs USING (run)
        LEFT JOIN texts ON typeof(decision) = 'integer' AND texts.id = decision;
CREATE VIEW tool_calls AS
    SELECT run_id, step, call, name,
        coalesce(head, substr(CASE typeof(arguments) WHEN 'integer' THEN body ELSE arguments END,
            1, 400)) AS arguments
    FROM calls JOIN runs USING (run)
        LEFT JOIN texts ON typeof(arguments) = 'integer' AND texts.id = arguments;
CREATE VIEW requests AS
    SELECT run_id, provider, model, step, est_section, est_request,
        input, cache_read AS cached, output, carried, stubbed, reread
    FROM context_events JOIN runs USING (run)
    WHERE kind = 'assembled';
CREATE VIEW drift AS
    SELECT run_id, provider, model, count(*) AS requests, sum(est_request) AS estimated,
        sum(input) AS reported, round(1.0 * sum(input) / nullif(sum(est_request), 0), 4) AS ratio
    FROM context_events JOIN runs USING (run)
    WHERE kind = 'assembled' AND input IS NOT NULL
    GROUP BY run;
CREATE VIEW events AS
    SELECT run_id, step, sequence, kind, detail
    FROM context_events JOIN origins USING (run)
    WHERE kind != 'assembled';
CREATE VIEW attempts AS
    SELECT run_id, step, attempt, kind, round(latency, 3) AS seconds,
        input, cache_read AS cached, output, detail
    FROM provider_calls JOIN runs USING (run);
CREATE VIEW notes AS
    SELECT name AS workspace, key, value, run_id, step, source, seq, pinned,
        first_written, written, rewrites
    FROM memory JOIN workspaces USING (workspace) JOIN origins USING (run);
CREATE VIEW recalls AS
    SELECT run_id, memory_recalls.step, name AS workspace, key, note_run_id, note_step
    FROM memory_recalls JOIN runs USING (run) JOIN workspaces USING (workspace);
"""

MIGRATIONS: Final = (_FIRST, _SECOND)
"""The n-th takes a store from version n to n + 1; a released one never changes."""
VERSION: Final = len(MIGRATIONS)
