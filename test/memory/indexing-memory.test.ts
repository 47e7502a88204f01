/**
 * Tests an import far larger than the allowed memory, with searches at the same time: the service's own memory,
 * sampled all the time, stays within `memory.mib`, and everything is imported.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SeededRandom } from '../support/random.js';
import { describeWhere } from '../support/skip.js';
import { startTestService, type TestService } from '../support/service.js';

const SAMPLE_MS = 10;
const SETTLED_MS = 2000;
const RECORDS = 70_000;
const RECORDS_PER_IMPORT = 17_500;
const IMPORTS_AT_A_TIME = 2;
const WORDS_PER_RECORD = 30;
const VOCABULARY = 60_000;
const LIST = 'sentences';

/** The smallest budget that is allowed, with what it allows; and one with everything that is on by default. */
const BUDGETS = [
  { mib: 224, env: { GANNET_SEARCH_CACHE_MIB: '0' } },
  { mib: 272, env: { GANNET_SEARCH_CACHE_MIB: '32' } },
];

/** Rare words are many and frequent words are few, as in real texts. */
function sentence(random: SeededRandom): string {
  const word = () => `w${Math.floor(VOCABULARY ** random.next()).toString(36)}`;
  return Array.from({ length: WORDS_PER_RECORD }, word).join(' ');
}

function recordLines(random: SeededRandom, first: number, count: number): string {
  const lines: string[] = [];
  for (let number = first; number < first + count; number += 1) {
    const text = sentence(random);
    lines.push(JSON.stringify({ name: `Record ${number}`, text, category: `c${number % 50}`, words: text.length }));
  }
  return `${lines.join('\n')}\n`;
}

async function makeList({ client }: TestService): Promise<void> {
  const { status } = await client.post('/list/default', {
    name: LIST,
    searchable_fields: [{ name: 'text' }],
    facets: [
      { name: 'category', type: 'string' },
      { name: 'words', type: 'number' },
    ],
  });
  expect(status).toBe(201);
}

async function importAll({ client }: TestService): Promise<number> {
  const random = new SeededRandom(7);
  let created = 0;
  let next = 0;
  const importer = async () => {
    while (next < RECORDS) {
      const first = next;
      next += RECORDS_PER_IMPORT;
      const { status, body } = await client.bulk('default', LIST, recordLines(random, first, RECORDS_PER_IMPORT));
      expect(status).toBe(200);
      created += (body as { created: number }).created;
    }
  };
  await Promise.all(Array.from({ length: IMPORTS_AT_A_TIME }, importer));
  return created;
}

/** Sends one search after the other until stopped; resolves with the number of answers. */
function searching({ client }: TestService) {
  let isStopped = false;
  const random = new SeededRandom(8);
  const done = (async () => {
    let answered = 0;
    for (; !isStopped; answered += 1) {
      const query = sentence(random).split(' ').slice(0, 3).join(' ');
      const { status } = await client.get(`/search/default/${LIST}/1`, { query, size: 20 });
      expect(status).toBe(200);
    }
    return answered;
  })();
  return () => {
    isStopped = true;
    return done;
  };
}

/**
 * Waits for merges, which go on after the last answer; the last one comes when nothing was written to the list for a
 * second.
 */
async function untilMerged({ dataDir }: TestService): Promise<void> {
  const files = () => readdirSync(join(dataDir, 'lists'), { recursive: true }).join();
  let before = files();
  for (let sinceMs = performance.now(); performance.now() - sinceMs < SETTLED_MS; await wait(SAMPLE_MS)) {
    if (files() === before) continue;
    before = files();
    sinceMs = performance.now();
  }
}

describeWhere(existsSync('/proc/self/status'), 'this system does not tell what is resident')(
  'own memory while indexing',
  () => {
    it.each(BUDGETS)('stays within $mib MiB', async ({ mib, env }) => {
      const service = await startTestService({
        env: { GANNET_MEMORY_MIB: String(mib), GANNET_LOG_LEVEL: 'warn', ...env },
      });
      let peakMib = 0;
      const sampling = setInterval(() => (peakMib = Math.max(peakMib, service.ownMemoryMib())), SAMPLE_MS);
      try {
        await makeList(service);
        const stopSearching = searching(service);
        const created = await importAll(service);
        await untilMerged(service);
        expect(await stopSearching()).toBeGreaterThan(10);
        expect(created).toBe(RECORDS);
        const { body } = await service.client.get(`/list/default/${LIST}`);
        expect(body).toMatchObject({ record_count: RECORDS });
        process.stdout.write(`${RECORDS} records with ${mib} MiB: at most ${peakMib.toFixed(0)} MiB of its own\n`);
        expect(peakMib).toBeGreaterThan(0);
        expect(peakMib).toBeLessThanOrEqual(mib);
      } finally {
        clearInterval(sampling);
        await service.close();
      }
    });

    it('is shown in the metrics, with its budget', async () => {
      const service = await startTestService({ env: { GANNET_MEMORY_MIB: '256' } });
      try {
        expect(await service.metric('gannet_memory_budget_bytes')).toBe(256 * 2 ** 20);
        // Memory may change between the two measurements.
        const difference = async () => {
          const own = (await service.metric('gannet_memory_own_bytes')) / 2 ** 20;
          return Math.abs(own - service.ownMemoryMib());
        };
        await expect.poll(difference).toBeLessThan(20);
      } finally {
        await service.close();
      }
    });
  },
);
