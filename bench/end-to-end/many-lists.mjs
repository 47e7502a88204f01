/**
 * Measures many lists in one process: a start, the first search in a list at rest and the next one, a write to each list in random order, memory
 * and file descriptors.
 *
 *   node bench/end-to-end/many-lists.mjs [--lists 1000] [--records 1000] [--open 0] [--memory 2048]
 *
 * `--open` is the number of lists that are open at a time; 0: as many as there is room for. The lists stay in the work folder for the next run.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readOptions } from './lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from './lib/report.mjs';
import { seededRandom } from './lib/random.mjs';
import { ACCOUNT, call, createKey, doctorSays, importNdjson, startService, workFolder } from './lib/service.mjs';

const WORDS = 20_000;
const WORDS_A_RECORD = 30;
/** Bar for the time to open a list at rest. */
const OPENING_MS_MAX = 5;
const { lists, records, open, memory } = readOptions({ lists: 1000, records: 1000, open: 0, memory: 2048 });
const dataDir = join(workFolder, `many-lists-${lists}-${records}`);
const marker = join(dataDir, 'bench-key.json');
const env = { GANNET_MEMORY_MIB: `${memory}`, GANNET_LISTS_OPEN_MAX: `${open}` };
const random = seededRandom(20);
const times = [];
const states = [];
const bars = [];
const said = [];
const nameOf = (list) => `list-${list}`;
const word = () => `word${Math.floor(random() * WORDS)}`;

function ndjson() {
  const record = (number) => {
    const text = Array.from({ length: WORDS_A_RECORD }, word).join(' ');
    return `${JSON.stringify({ name: `record-${number}`, title: `${word()} ${word()}`, text })}\n`;
  };
  return Readable.from(Array.from({ length: records }, (_, number) => record(number)));
}

async function makeLists() {
  const service = await startService(dataDir, env);
  const key = createKey(dataDir);
  const definition = { searchable_fields: [{ name: 'title', weight: 3 }, { name: 'text' }] };
  await call(service.address, key, 'POST', `/list/${ACCOUNT}`, { name: nameOf(0), ...definition });
  await importNdjson(service.address, key, nameOf(0), ndjson());
  const began = performance.now();
  for (let list = 1; list < lists; list += 1)
    await call(service.address, key, 'POST', `/list/${ACCOUNT}/${nameOf(0)}/clone`, { name: nameOf(list) });
  const eachMs = ((performance.now() - began) / lists).toFixed(1);
  process.stderr.write(
    `Copied ${formatCount(lists - 1)} lists of ${formatCount(records)} records: ${eachMs} ms each\n`,
  );
  await service.stop();
  writeFileSync(marker, JSON.stringify({ key }));
}

function shuffled() {
  const order = Array.from({ length: lists }, (_, list) => list);
  for (let last = lists - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

async function timed(milliseconds, action) {
  const began = performance.now();
  await action();
  milliseconds.push(performance.now() - began);
}

function row(what, milliseconds) {
  const at = (part) => quantile(milliseconds, part).toFixed(2);
  times.push([what, formatCount(milliseconds.length), at(0.5), at(0.9), at(0.99)]);
}

function taken(service, what) {
  const { all, anonymous, files } = service.memory();
  const descriptors = readdirSync(`/proc/${service.pid}/fd`).length;
  const maps = readFileSync(`/proc/${service.pid}/maps`, 'utf8').split('\n').length - 1;
  states.push([what, ...[all, anonymous, files, descriptors, maps].map(formatCount)]);
  return all;
}

/** Returns the number of lists by `GET /list`. */
async function allLists(service, key) {
  let count = 0;
  for (let after; ;) {
    const page = await call(
      service.address,
      key,
      'GET',
      `/list/${ACCOUNT}?${new URLSearchParams({ size: '100', ...after })}`,
    );
    count += page.lists.length;
    if (page.next === undefined) return count;
    after = { after: page.next };
  }
}

async function measure(service, key) {
  const search = (list) =>
    call(service.address, key, 'GET', `/search/${ACCOUNT}/${nameOf(list)}/1?query=${word()}&cache=false`);
  const [first, next, writes] = [[], [], []];
  for (const list of shuffled()) {
    await timed(first, () => search(list));
    await timed(next, () => search(list));
  }
  row('first search of a list', first);
  row('the next search', next);
  // The first search in a list minus another search. On a busy machine either may be late.
  const opening = first.map((each, place) => each - next[place]);
  const quick = opening.filter((each) => each < OPENING_MS_MAX).length / lists;
  row('opening, the first without the next', opening);
  const middle = quantile(opening, 0.5);
  const bar = `${OPENING_MS_MAX} ms`;
  bars.push(barRow('a list that rests is open after, p50', `${middle.toFixed(1)} ms`, bar, middle < OPENING_MS_MAX));
  said.push(`Open in less than ${bar}: ${(quick * 100).toFixed(1)} %.`);
  const resident = taken(service, 'a search in each');
  bars.push(
    barRow('resident after a search in each', `${formatCount(resident)} MiB`, `${memory} MiB`, resident < memory),
  );
  for (const line of doctorSays(dataDir, env, ['Memory', 'Open files', 'Memory maps', 'Lists', 'Lists on disk']))
    said.push(`\`gannet doctor\`: ${line}.`);
  const beganMs = performance.now();
  const told = await allLists(service, key);
  said.push(`\`GET /list\` of all ${formatCount(told)}: ${(performance.now() - beganMs).toFixed(0)} ms.`);
  for (const list of shuffled())
    await timed(writes, () =>
      call(service.address, key, 'POST', `/search-result/${ACCOUNT}/${nameOf(list)}`, { name: 'more', text: word() }),
    );
  row('a write to each', writes);
  taken(service, 'a write to each');
}

if (!existsSync(marker)) await makeLists();
const { key } = JSON.parse(readFileSync(marker, 'utf8'));
const service = await startService(dataDir, env);
said.push(`Start: ${(service.readyMs / 1000).toFixed(2)} s.`);
taken(service, 'the start');
try {
  await measure(service, key);
} finally {
  process.kill(service.pid, 'SIGKILL');
}
const again = await startService(dataDir, env);
said.push(`Start after \`kill -9\`: ${(again.readyMs / 1000).toFixed(2)} s.`);
await again.stop();
process.stdout.write(
  [
    '## Many lists\n',
    machineTable({
      Lists: `${formatCount(lists)} of ${formatCount(records)} records, searched and written to in any order`,
      '`memory.mib`': formatCount(memory),
    }),
    markdownTable(['What', 'Times', 'p50 ms', 'p90 ms', 'p99 ms'], times),
    markdownTable(['After', 'Resident MiB', 'of its own', 'of files', 'Descriptors', 'Maps'], states),
    `${said.map((each) => `- ${each}`).join('\n')}\n`,
    markdownTable(['What', 'Measured', 'Bar', ''], bars),
  ].join('\n'),
);
