/* The conditions of skip_bench in ClickHouse (npm package chdb), ripgrep and grep, on the same log, and
 * the ratios of their times to ours.
 *
 *     node skip_peers.js LOG FIGURES.json [FOLDER OF node_modules]
 *
 * ClickHouse runs with one thread, in two tables: granules of 8,192 rows with tokenbf_v1, ngrambf_v1,
 * bloom_filter, set and minmax indexes; and the same with its text index in the place of the first
 * two. Times are medians of up to 9 runs, after one that warms. What is not installed is left out, with
 * a word. Prints a table, and a line of JSON for each figure into FIGURES.json.peers.
 */
'use strict';
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');

const [log, figures, modules] = process.argv.slice(2);
if (!log || !figures) {
    console.error('usage: skip_peers.js LOG FIGURES.json [FOLDER OF node_modules]');
    process.exit(2);
}
const lines = fs.readFileSync(figures, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const ours = lines.filter((line) => line.bench === 'skip');
const conditions = ours.filter((line) => line.store === '64 KiB');
const output = fs.createWriteStream(`${figures}.peers`);
let wrong = 0;

function median(values) {
    values.sort((a, b) => a - b);
    return values[values.length >> 1];
}

/* Milliseconds of a call, and what it gives. */
function measure(call, runs) {
    let result = call();
    const times = [];
    const begin = process.hrtime.bigint();
    do {
        const start = process.hrtime.bigint();
        result = call();
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

/* --- ClickHouse --- */

function loadChdb() {
    for (const name of ['chdb', modules && path.resolve(modules, 'node_modules', 'chdb')]) {
        try {
            return name ? require(name) : null;
        } catch (error) {
            if (error.code !== 'MODULE_NOT_FOUND')
                throw error;
        }
    }
    return null;
}

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

function runClickHouse(chdb, peer) {
    const folder = fs.mkdtempSync(path.join(path.dirname(path.resolve(log)), 'clickhouse-'));
    const session = new chdb.Session(folder);
    try {
        session.query('CREATE DATABASE log');
        fill(session, peer);
        for (const condition of conditions) {
            const sql = `SELECT count() FROM log.t WHERE ${condition.sql}
                SETTINGS max_threads = 1, use_query_condition_cache = 0`;
            const { ms, result } = measure(() => session.query(sql, 'CSV'), 9);
            report(peer.name, condition, Number(result.trim()), ms);
        }
    } catch (error) {
        console.log(`${peer.name}: left out: ${String(error.message).split('\n')[0]}`);
    }
    session.cleanup();
    fs.rmSync(folder, { recursive: true, force: true });
}

/* --- Search of the file --- */

function runSearch(name, command, args) {
    if (spawnSync(command, ['--version']).error) {
        console.log(`${name}: not installed, left out`);
        return;
    }
    for (const condition of conditions.filter((c) => c.literal && c.condition !== 'regular expression with a literal, 200 rows')) {
        const { ms, result } = measure(() => spawnSync(command, [...args, condition.literal, log]).stdout.toString(), 5);
        report(name, condition, Number(result.trim() || 0), ms);
    }
}

runSearch('ripgrep', 'rg', ['-c', '-F', '-j1', '--no-config']);
runSearch('grep', 'grep', ['-c', '-F']);
const chdb = loadChdb();
if (chdb === null)
    console.log('ClickHouse: the npm package chdb is not installed, left out');
else
    peers.forEach((peer) => runClickHouse(chdb, peer));
output.end(() => process.exit(wrong === 0 ? 0 : 1));
