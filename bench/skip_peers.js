/* The conditions of skip_bench in ClickHouse (npm package chdb), DuckDB (npm package @duckdb/node-api),
 * ripgrep and grep, on the same log, and the ratios of their times to ours.
 *
 *     node skip_peers.js LOG FIGURES.json [FOLDER OF node_modules [PEERS]]
 *
 * ClickHouse runs with one thread, in two tables: granules of 8,192 rows with tokenbf_v1, ngrambf_v1,
 * bloom_filter, set and minmax indexes; and the same with its text index in the place of the first
 * two. DuckDB runs with one thread over a table in its own format, which has the bounds of each column
 * for 122,880 rows, and ART indexes of host and user; it has no tokens, so that they are a substring and
 * a regular expression. ripgrep is the command rg, or that of the npm package @vscode/ripgrep. Times are
 * medians of up to 9 runs, after one that warms. What is not installed is left out, with
 * a word. PEERS chooses some, to measure in pieces: a list with commas of ripgrep, grep, duckdb,
 * "clickhouse tokenbf" and "clickhouse text". Prints a table, and a line of JSON for each figure into
 * FIGURES.json.peers, after those of the pieces before.
 */
'use strict';
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');

const [log, figures, modules, wanted] = process.argv.slice(2);
if (!log || !figures) {
    console.error('usage: skip_peers.js LOG FIGURES.json [FOLDER OF node_modules [PEERS]]');
    process.exit(2);
}
const lines = fs.readFileSync(figures, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const ours = lines.filter((line) => line.bench === 'skip');
const conditions = ours.filter((line) => line.store === '64 KiB');
const output = fs.createWriteStream(`${figures}.peers`, { flags: wanted ? 'a' : 'w' });
let wrong = 0;

function isWanted(peer) {
    return !wanted || wanted.split(',').includes(peer);
}

function median(values) {
    values.sort((a, b) => a - b);
    return values[values.length >> 1];
}

/* Milliseconds of a call, and what it gives. */
async function measure(call, runs) {
    let result = await call();
    const times = [];
    const begin = process.hrtime.bigint();
    do {
        const start = process.hrtime.bigint();
        result = await call();
        times.push(Number(process.hrtime.bigint() - start) / 1e6);
    } while (times.length < runs && Number(process.hrtime.bigint() - begin) < 1e9);
    return { ms: median(times), result };
}

function ourTime(store, condition) {
    const found = ours.find((line) => line.store === store && line.condition === condition.condition);
    return found ? found.ms : NaN;
}

function report(peer, condition, rows, ms) {
    const fine = ourTime('16 KiB', condition);
    const coarse = ourTime('64 KiB', condition);
    const note = rows === condition.expected ? '' : `  WRONG: ${rows} rows, expected ${condition.expected}`;
    wrong += note === '' ? 0 : 1;
    console.log(`${condition.condition.padEnd(44)} ${peer.padEnd(18)} ${ms.toFixed(3).padStart(10)} ms  x ${(ms / coarse)
        .toFixed(1).padStart(8)} of 64 KiB  x ${(ms / fine).toFixed(1).padStart(8)} of 16 KiB${note}`);
    output.write(`${JSON.stringify({ bench: 'skip_peer', peer, condition: condition.condition, rows, ms,
        ratio_64k: ms / coarse, ratio_16k: ms / fine })}\n`);
}

function folderOf(name) {
    return modules && path.resolve(modules, 'node_modules', ...name.split('/'));
}

/* A package; null: it is not installed. */
function loadPackage(wanted) {
    for (const name of [wanted, folderOf(wanted)]) {
        try {
            return name ? require(name) : null;
        } catch (error) {
            if (error.code !== 'MODULE_NOT_FOUND')
                throw error;
        }
    }
    return null;
}

/* --- ClickHouse --- */

const columns = `line String, host String, user Nullable(String), time DateTime('UTC'), status UInt16, bytes Nullable(UInt64)`;
const common = `INDEX i_host host TYPE bloom_filter(0.01) GRANULARITY 1, INDEX i_user user TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX i_status status TYPE set(100) GRANULARITY 1, INDEX i_bytes bytes TYPE minmax GRANULARITY 1,
    INDEX i_time time TYPE minmax GRANULARITY 1`;
const peers = [
    { name: 'clickhouse tokenbf', settings: '', indexes: `INDEX i_token line TYPE tokenbf_v1(6144, 7, 0) GRANULARITY 1,
        INDEX i_gram line TYPE ngrambf_v1(4, 51200, 7, 0) GRANULARITY 1, ${common}` },
    { name: 'clickhouse text', settings: 'SET allow_experimental_full_text_index = 1',
        indexes: `INDEX i_token line TYPE text(tokenizer = 'splitByNonAlpha') GRANULARITY 100000000, ${common}` },
];

function fill(session, peer) {
    const fields = `line, splitByChar(' ', line)[1], nullIf(splitByChar(' ', line)[3], '-'),
        parseDateTime(substring(line, position(line, '[') + 1, 20), '%d/%b/%Y:%H:%i:%s', 'UTC'),
        toUInt16(extract(line, 'HTTP/1.1" ([0-9]{3}) ')), toUInt64OrNull(extract(line, 'HTTP/1.1" [0-9]{3} ([^ ]+) '))`;
    if (peer.settings)
        session.query(peer.settings);
    session.query(`CREATE TABLE log.t (${columns}, ${peer.indexes}) ENGINE = MergeTree ORDER BY tuple()`);
    const usage = process.cpuUsage();
    session.query(`INSERT INTO log.t SELECT ${fields} FROM file('${path.resolve(log)}', 'LineAsString', 'line String')
        SETTINGS max_threads = 1, max_insert_threads = 1`);
    session.query('OPTIMIZE TABLE log.t FINAL');
    const { user, system } = process.cpuUsage(usage);
    console.log(`${peer.name}: loaded and merged in ${((user + system) / 1e6).toFixed(2)} s of the processor`);
    const sizes = session.query(`SELECT name, type, data_compressed_bytes FROM system.data_skipping_indices
        WHERE database = 'log' FORMAT CSV`).trim();
    console.log(sizes);
    compareSizes(peer, Number((sizes.match(/"i_token".*,(\d+)/) || [])[1]));
}

/* The bar: tokens take a tenth of the text index. tokenbf_v1 has granules of 8,192 rows here: skip_bars_bench compares
 * with one of the same granules and rate. */
function compareSizes(peer, theirs) {
    const ours = lines.find((line) => line.bench === 'skip_index' && line.store === '64 KiB' && line.spec.startsWith('tokens('));
    if (!ours || !theirs || peer.name !== 'clickhouse text')
        return;
    const seen = ours.bytes / theirs;
    console.log(`size of ${ours.spec} by that of the text index: <= 0.100   seen ${seen.toFixed(3)}   ${seen <= 0.1 ? 'met' : 'MISSED'}`);
}

async function runClickHouse(chdb, peer) {
    const folder = fs.mkdtempSync(path.join(path.dirname(path.resolve(log)), 'clickhouse-'));
    const session = new chdb.Session(folder);
    try {
        session.query('CREATE DATABASE log');
        fill(session, peer);
        for (const condition of conditions) {
            const sql = `SELECT count() FROM log.t WHERE ${condition.sql}
                SETTINGS max_threads = 1, use_query_condition_cache = 0`;
            const { ms, result } = await measure(() => session.query(sql, 'CSV'), 9);
            report(peer.name, condition, Number(result.trim()), ms);
        }
    } catch (error) {
        console.log(`${peer.name}: left out: ${String(error.message).split('\n')[0]}`);
    }
    session.cleanup();
    fs.rmSync(folder, { recursive: true, force: true });
}

/* --- DuckDB --- */

/* A condition for ClickHouse as DuckDB has it. Around a token there are no letters, digits and bytes from
 * 0x80 on. WHY CASE: DuckDB would match the regular expression first, which takes ten times as long. */
function sqlOfDuckdb(sql) {
    const other = '[\\x00-/:-@\\[-`{-\\x7f]';
    return sql.replace(/hasToken\((\w+), '([^']*)'\)/g,
        (_, column, token) => `CASE WHEN contains(${column}, '${token}')
            THEN regexp_matches(${column}, '(^|${other})${token}(${other}|$)') ELSE false END`)
        .replace(/\bmatch\(/g, 'regexp_matches(')
        .replace(/parseDateTimeBestEffort\('([^']*)'\)/g, "TIMESTAMP '$1'");
}

async function fillDuckdb(connection) {
    const file = path.resolve(log).replace(/'/g, "''");
    const usage = process.cpuUsage();
    await connection.run('SET threads = 1');
    await connection.run(`CREATE TABLE t AS SELECT line, split_part(line, ' ', 1) AS host,
        nullif(split_part(line, ' ', 3), '-') AS "user",
        strptime(substr(line, position('[' IN line) + 1, 20), '%d/%b/%Y:%H:%M:%S') AS time,
        regexp_extract(line, 'HTTP/1.1" ([0-9]{3}) ', 1)::USMALLINT AS status,
        try_cast(regexp_extract(line, 'HTTP/1.1" [0-9]{3} ([^ ]+) ', 1) AS UBIGINT) AS bytes
        FROM read_csv('${file}', columns = {'line': 'VARCHAR'}, delim = '\u0001', quote = '', escape = '', header = false,
            auto_detect = false)`);
    await connection.run('CREATE INDEX i_host ON t (host)');
    await connection.run('CREATE INDEX i_user ON t ("user")');
    await connection.run('CHECKPOINT');
    const { user, system } = process.cpuUsage(usage);
    console.log(`duckdb: loaded and indexed in ${((user + system) / 1e6).toFixed(2)} s of the processor`);
}

async function runDuckdb(duckdb) {
    const folder = fs.mkdtempSync(path.join(path.dirname(path.resolve(log)), 'duckdb-'));
    try {
        const instance = await duckdb.DuckDBInstance.create(path.join(folder, 'log.db'), { threads: '1' });
        const connection = await instance.connect();
        await fillDuckdb(connection);
        console.log(`duckdb: a file of ${(fs.statSync(path.join(folder, 'log.db')).size / 1e6).toFixed(1)} MB`);
        for (const condition of conditions) {
            const sql = `SELECT count(*) FROM t WHERE ${sqlOfDuckdb(condition.sql).replace(/\buser\b/g, '"user"')}`;
            const { ms, result } = await measure(() => connection.runAndReadAll(sql), 9);
            report('duckdb', condition, Number(result.getRows()[0][0]), ms);
        }
        connection.closeSync();
        instance.closeSync();
    } catch (error) {
        console.log(`duckdb: left out: ${String(error.message).split('\n')[0]}`);
    }
    fs.rmSync(folder, { recursive: true, force: true });
}

/* --- Search of the file --- */

async function runSearch(name, commands, args) {
    if (!isWanted(name))
        return;
    const command = commands.find((candidate) => candidate && !spawnSync(candidate, ['--version']).error);
    if (!command) {
        console.log(`${name}: not installed, left out`);
        return;
    }
    for (const condition of conditions.filter((c) => c.literal && c.condition !== 'regular expression with a literal, 200 rows')) {
        const { ms, result } = await measure(() => spawnSync(command, [...args, condition.literal, log]).stdout.toString(), 5);
        report(name, condition, Number(result.trim() || 0), ms);
    }
}

async function main() {
    const packaged = folderOf('@vscode/ripgrep');
    await runSearch('ripgrep', ['rg', packaged && path.join(packaged, 'bin', 'rg')], ['-c', '-F', '-j1', '--no-config']);
    await runSearch('grep', ['grep'], ['-c', '-F']);
    const duckdb = isWanted('duckdb') ? loadPackage('@duckdb/node-api') : undefined;
    if (duckdb === null)
        console.log('DuckDB: the npm package @duckdb/node-api is not installed, left out');
    else if (duckdb)
        await runDuckdb(duckdb);
    const others = peers.filter((peer) => isWanted(peer.name));
    const chdb = others.length > 0 ? loadPackage('chdb') : undefined;
    if (chdb === null)
        console.log('ClickHouse: the npm package chdb is not installed, left out');
    for (const peer of chdb ? others : [])
        await runClickHouse(chdb, peer);
    output.end(() => process.exit(wrong === 0 ? 0 : 1));
}

main();
