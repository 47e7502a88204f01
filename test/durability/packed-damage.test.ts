/**
 * Tests searches if packed records, or the dictionary that packs them, are damaged: they return the other records,
 * and the damaged ones with their ids.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { recordNumberOf } from '../../src/platform/index.js';
import { RecordStore } from '../../src/records/index.js';
import { startTestService, type TestService } from '../support/service.js';

const RECORDS = 4000;
const RECORDS_TOLD = 50;
const [PACKED, SHORT, WHOLE] = [7, 11, 13];
/** Enough bytes for the id. */
const BYTES_LEFT = 24;

let dataDir: string;
let service: TestService;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-packed-damage-'));
  service = await startTestService({ dataDir });
});
afterEach(async () => {
  await service.close();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Hit {
  readonly id: string | null;
  readonly name?: string;
  readonly error?: string;
  readonly list_name?: string;
  readonly fields?: unknown;
}

async function hits(path: string, query: Readonly<Record<string, string | number>>): Promise<readonly Hit[]> {
  const { status, text, body } = await service.client.get(path, query);
  expect(status, text).toBe(200);
  return (body as { results: Hit[] }).results;
}

async function change(damage: (store: RecordStore) => void): Promise<void> {
  await service.stop();
  const [id = ''] = readdirSync(join(dataDir, 'lists'));
  const store = new RecordStore(join(dataDir, 'lists', id));
  store.transaction(() => {
    damage(store);
  });
  await store.close();
  await service.start();
}

it('Searches return damaged packed records with their ids, in the list and in a group', async () => {
  const { client } = service;
  await client.post('/list/default', { name: 'said', searchable_fields: [{ name: 'title' }] });
  const title = (number: number) =>
    `Every sentence of number ${number} says what the others of its kind say, ${number * 7919}`;
  const records = Array.from({ length: RECORDS }, (_, number) => ({ name: `r${number}`, title: title(number) }));
  expect((await client.bulk('default', 'said', records)).body).toMatchObject({ created: RECORDS });
  // A record in the short format.
  const single = await client.post('/search-result/default/said', { name: `r${SHORT}`, title: title(SHORT) });
  expect(single.status, single.text).toBeLessThan(300);
  const group = await client.post('/list-group/default', { name: 'all', lists: [{ list: 'said' }] });
  expect(group.status, group.text).toBe(201);
  const searches = [
    { query: 'sentence', size: RECORDS_TOLD },
    { query: 'sentence', size: RECORDS_TOLD, highlight: 'true' },
  ];
  const before = await hits('/search/default/said/1', { query: 'sentence', size: RECORDS_TOLD });
  const [packed, short, whole] = [PACKED, SHORT, WHOLE].map((number) =>
    before.find(({ name }) => name === `r${number}`),
  );
  expect([packed, short, whole]).not.toContain(undefined);

  await change((store) => {
    const version = store.version(1);
    const cut = (hit: Hit | undefined, end: number) => {
      const number = recordNumberOf(hit?.id ?? '') ?? -1;
      version.putRecord(number, Buffer.from(version.storedRecord(number) ?? []).subarray(0, end));
    };
    cut(packed, -1);
    cut(short, BYTES_LEFT);
  });
  for (const search of searches) {
    for (const [path, ofGroup] of [
      ['/search/default/said/1', {}],
      ['/search/group/default/all/1', { list_name: 'said' }],
    ] as const) {
      const after = await hits(path, search);
      expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
      const damaged = after.filter(({ error }) => error !== undefined);
      expect(damaged.map(({ id }) => id).sort()).toEqual([packed?.id, short?.id].sort());
      for (const hit of damaged)
        expect(hit).toEqual({ id: hit.id, name: hit.id, fields: {}, error: hit.error, ...ofGroup });
      expect(after.find(({ id }) => id === whole?.id)).toMatchObject({
        name: `r${WHOLE}`,
        fields: { title: title(WHOLE) },
      });
    }
  }

  await change((store) => {
    store.putWords(1, Buffer.alloc(100));
  });
  for (const search of searches) {
    const lost = await hits('/search/default/said/1', search);
    expect(lost.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const told = (hit: Hit | undefined) => lost.find(({ id }) => id === hit?.id)?.error;
    expect(told(whole)).toBe('The record is damaged on disk: the packed fields of a record cannot be read.');
    expect(told(short)).toBe('The record is damaged on disk: a record is shorter than its header says.');
    expect(lost.filter(({ error }) => error === undefined)).toEqual([]);
  }
});
