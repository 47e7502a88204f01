/**
 * Measures the import of changes from a file of 200,000 records that a list follows, of which 100 change: the time from the request to the end. Prints Markdown.
 *
 *   npm run build && node bench/feeds/apply.mjs [records]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { barRow, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { threadTimesMs } from '../end-to-end/lib/processor-time.mjs';
import { ACCOUNT, call, createKey, startService, untilMerged } from '../end-to-end/lib/service.mjs';

const { records: RECORDS } = readNumbers({ records: 200_000 });
const CHANGED = 100;
const ROUNDS = 3;

function line(number, round) {
  const isChanged = round > 0 && number % Math.floor(RECORDS / CHANGED) === round;
  const fields = {
    year: 1900 + (number % 120),
    text: `Record ${number} says something about gannets, the sea, and number ${number * 7}. `.repeat(3),
    title: isChanged ? `Changed in round ${round}` : `Record ${number}`,
  };
  return `${JSON.stringify({ name: `record-${number}`, fields })}\n`;
}

/** Returns the file of a round. It has 100 changed records, and those of the round before have their original values again. */
function file(round) {
  const lines = [];
  for (let number = 0; number < RECORDS; number += 1) lines.push(line(number, round));
  return lines.join('');
}

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-apply-'));
const service = await startService(dataDir, {
  GANNET_MEDIA_DEFAULT_STORE_BYTES_MAX: '2000000000',
  GANNET_FEEDS_SOURCE_CHECK_SECONDS: '86400',
});
const key = createKey(dataDir);
const api = (method, path, body) => call(service.address, key, method, path, body);
const put = async (bytes) => {
  const response = await fetch(`${service.address}/media/${ACCOUNT}/default/records.ndjson`, {
    method: 'PUT',
    headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    body: bytes,
  });
  if (!response.ok) throw new Error(await response.text());
};
const imported = async (before) => {
  for (;;) {
    const source = await api('GET', `/list/${ACCOUNT}/records/source`);
    if (source.error !== null) throw new Error(source.error.message);
    if (source.status === 'Imported' && source.last_imported !== before) return source;
    await wait(20);
  }
};

await api('POST', `/list/${ACCOUNT}`, {
  name: 'records',
  searchable_fields: [{ name: 'title' }, { name: 'text' }],
  facets: [{ name: 'year', type: 'number', cardinality: 'Single' }],
});
await put(file(0));
await api('POST', `/list/${ACCOUNT}/records/source`, { path: 'records.ndjson', keep_in_sync: false });
let source = await imported(null);
const first = source.last_run;
await untilMerged(dataDir);
const seconds = [];
const cpu = [];
const waits = [];
let isExact = true;
for (let round = 1; round <= ROUNDS; round += 1) {
  await put(file(round));
  const [startedMs, before] = [performance.now(), threadTimesMs(service.pid)];
  await api('POST', `/list/${ACCOUNT}/records/source/run`);
  source = await imported(source.last_imported);
  seconds.push((performance.now() - startedMs) / 1000);
  const after = threadTimesMs(service.pid);
  cpu.push((after.all - before.all) / 1000);
  waits.push((after.waited - before.waited) / 1000);
  const { added, changed, removed, unchanged, failed } = source.last_run;
  // From the second round on, the changes of the round before are reverted, too.
  const expected = round === 1 ? CHANGED : 2 * CHANGED;
  isExact &&= added === 0 && removed === 0 && failed === 0 && changed === expected && unchanged === RECORDS - expected;
}
await service.stop();
rmSync(dataDir, { recursive: true });
const median = quantile(seconds, 0.5);
const rows = [
  barRow(`first import of ${RECORDS} records, s`, (first.took_ms / 1000).toFixed(1), '', true),
  barRow(`${CHANGED} of them changed: applied in, s (median of ${ROUNDS})`, median.toFixed(2), '< 3', median < 3),
  barRow('processor time of that, s', quantile(cpu, 0.5).toFixed(2), '', true),
  barRow('its threads waited for a processor together, s', quantile(waits, 0.5).toFixed(2), '', true),
  barRow('exactly those written', String(isExact), 'true', isExact),
];
console.log(`${machineTable()}\n\n${markdownTable(['What', 'Figure', 'Bar', ''], rows)}`);
