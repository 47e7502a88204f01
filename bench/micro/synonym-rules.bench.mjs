/**
 * Measures what 20,000 synonym rules cost a search in its worker: the same queries on the same records with and without them.
 * Most queries contain a word of a rule. Its other terms are in no record, so that only the rules make a difference.
 *
 *   npm run build && node bench/micro/synonym-rules.bench.mjs [records] [rules]
 */
import { cpus, tmpdir } from 'node:os';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { kernel } from '#native-bindings/index.js';
import { RecordStoreCache } from '#src/records/index.js';
import { ResponseWriter, SearchExecutor, StoreRecordReader } from '#src/search/index.js';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { openIndexes } from './lib/indexes.mjs';
import { definitionOf, SETTINGS, taskOf } from './lib/searching.mjs';

const { records: RECORDS, rules: RULES } = readNumbers({ records: 50_000, rules: 20_000 });
const ROUNDS = 15;
const BAR_PERCENT = 10;

let state = 42;
const next = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};
const letters = (number) =>
  [...number.toString(26)].map((digit) => String.fromCharCode(97 + parseInt(digit, 26))).join('');
const word = () => `q${letters(Math.floor(30_000 ** next()))}`;
const words = (count) => Array.from({ length: count }, word).join(' ');

const definition = definitionOf({ searchable_fields: [{ name: 'text', weight: 1 }], facets: [] }, 'none');
const rules = Array.from({ length: RULES }, (_, number) => ({
  kind: 'equivalent',
  terms: [`q${letters(number * 2)}`, `zz${letters(number)}`, `zy${letters(number)} zx${letters(number)}`],
}));

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-micro-'));
const stores = new RecordStoreCache();
const indexes = openIndexes(dataDir, stores);
const settings = { ...SETTINGS, language: 'none' };
const list = await indexes.create('bench', settings, definition);
const session = list.startImport('ndjson');
for (let begin = 0; begin < RECORDS; begin += 1000) {
  const lines = Array.from({ length: Math.min(1000, RECORDS - begin) }, (_, index) =>
    JSON.stringify({ name: `record-${begin + index}`, text: words(40) }),
  );
  await session.push(Buffer.from(`${lines.join('\n')}\n`));
}
await session.end();
const without = list.lease();
await list.applySettings({ ...settings, synonym_rules: rules });
const withRules = list.lease();

const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);
const response = new ResponseWriter();
const queries = Array.from({ length: 1000 }, () => words(3));

/** Returns microseconds per search. */
function measure(generation) {
  const begin = performance.now();
  for (const query of queries) {
    executor.execute(taskOf(generation, { query }), response);
    response.take();
    reader.release();
  }
  return ((performance.now() - begin) * 1000) / queries.length;
}

const coldBegin = performance.now();
measure(withRules.handle);
const coldMs = performance.now() - coldBegin;
measure(without.handle);
const times = [[], []];
for (let round = 0; round < ROUNDS; round += 1) {
  times[0].push(measure(without.handle));
  times[1].push(measure(withRules.handle));
}
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const [plain, ruled] = times.map(median);
const percent = (ruled / plain - 1) * 100;
console.log(`# ${RULES} synonym rules: ${RECORDS} records, ${cpus()[0]?.model}, Node ${process.version}\n`);
console.log('| without µs | with µs | more | bar | |\n|---|---|---|---|---|');
const reached = percent < BAR_PERCENT ? 'reached' : '**missed**';
console.log(`| ${plain.toFixed(1)} | ${ruled.toFixed(1)} | ${percent.toFixed(1)} % | ${BAR_PERCENT} % | ${reached} |`);
console.log(
  `\nThe first ${queries.length} searches after the change of the rules, compiling included: ${coldMs.toFixed(0)} ms.`,
);

without.release();
withRules.release();
await indexes.close();
await stores.close();
rmSync(dataDir, { recursive: true, force: true });
process.exit(0);
