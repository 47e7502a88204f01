/** The list that is written to while the service is killed, and the settings of that service. */
import { expect } from 'vitest';
import type { ServiceClient } from '../support/client.js';
import type { SeededRandom } from '../support/random.js';
import type { ReadRecord } from './expected-records.js';
import { ACCOUNT, LIST, type WriteLoad } from './write-load.js';

/** Small batches and an eager merger, so that every kind of commit is going on when the service dies. */
export const SETTINGS = {
  GANNET_INGEST_BATCH_RECORDS_MAX: '100',
  GANNET_INGEST_MERGE_FAN_IN: '3',
  GANNET_VERSIONS_KEPT: '1',
  GANNET_LOG_LEVEL: 'warn',
};

export const ROUND_MS_MAX = 240_000;
const KILL_AFTER_MS_MAX = 200;
const KILL_WAIT_MS_MAX = 8000;
const PAGE_SIZE = 1000;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export async function createList(client: ServiceClient): Promise<void> {
  const answer = await client.post(`/list/${ACCOUNT}`, {
    name: LIST,
    searchable_fields: [{ name: 'title' }, { name: 'body' }],
    facets: [
      { name: 'value', type: 'number', cardinality: 'Single' },
      { name: 'group', type: 'string', cardinality: 'Single' },
    ],
  });
  expect(answer.status, answer.text).toBe(201);
}

export async function allRecords(client: ServiceClient): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  for (;;) {
    const page = { skip: records.length, size: PAGE_SIZE };
    const { status, text, body } = await client.get(`/search-result/${ACCOUNT}/${LIST}`, page);
    expect(status, text).toBe(200);
    const { results, total_count: total } = body as { results: ReadRecord[]; total_count: number };
    records.push(...results);
    if (results.length === 0 || records.length >= total) return records;
  }
}

/**
 * Resolves when the kill is due: a random time after a random number of answers; on a slow machine, earlier. Resolves
 * with a description of that moment.
 */
export async function killDue(
  random: SeededRandom,
  { writes, running, answersMax }: { writes: WriteLoad; running: Promise<unknown>; answersMax: number },
): Promise<string> {
  const [afterAnswers, afterMs] = [random.below(answersMax), random.below(KILL_AFTER_MS_MAX)];
  await Promise.race([running, writes.answers(afterAnswers), pause(KILL_WAIT_MS_MAX)]);
  await Promise.race([running, pause(afterMs)]);
  return `${afterMs} ms after ${afterAnswers} answers`;
}
