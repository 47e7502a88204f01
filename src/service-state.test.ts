import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Catalog } from './catalog/index.js';
import { OpenFeatures } from './operations/index.js';
import type { Config } from './platform/index.js';
import { createMetrics } from './platform/metrics.js';
import { fullQueues, stateOf, troublesOf } from './service-state.js';
import { LIST_DEFINITION, LIST_SETTINGS } from '../test/support/lists-with-models.js';
import { ListsInFolder } from '../test/support/lists-in-folder.js';

const IDS = ['a', 'b', 'c', 'd', 'e'];

let lists: ListsInFolder;
beforeEach(() => {
  lists = new ListsInFolder({ GANNET_LISTS_OPEN_MAX: String(IDS.length - 1) }).open();
});
afterEach(() => lists.remove());

it('Reading metrics of open lists does not count as using them', async () => {
  const catalog = {
    accounts: () => [{ name: 'default' }],
    lists: () => IDS.map((id) => ({ id, name: id })),
  } as unknown as Catalog;
  const metrics = createMetrics();
  const { dataDir, indexes } = lists;
  const config = { search: { queue_max: 10 }, ingest: { queue_max: 10 } } as Config;
  const features = new OpenFeatures();
  const opened = { opened: () => undefined };
  const state = stateOf(
    { config, dataDir, budgetBytes: 0, catalog, indexes, features, metrics, log: pino({ level: 'silent' }) },
    opened,
  );
  const create = (id: string) => indexes.create(id, { ...LIST_SETTINGS, list: id }, LIST_DEFINITION);
  for (const id of IDS.slice(0, -1)) await create(id);
  // This makes the first list the most recently used.
  indexes.opened('a');
  expect(await state.metrics()).toContain('gannet_records_embedding_pending 0');
  await create('e');
  expect(IDS.filter((id) => indexes.glance(id) !== undefined)).toEqual(['a', 'c', 'd', 'e']);
});

it('fullQueues reports queues before they are full, with how full they are', () => {
  const waiting = [
    { name: 'search', count: 79, max: 100 },
    { name: 'ingest', count: 205, max: 256 },
    { name: 'deliveries', count: 10_000, max: null },
  ];
  expect(fullQueues(waiting)).toEqual([
    {
      kind: 'queue',
      account: '',
      name: 'ingest',
      detail: expect.stringMatching(/^205 tasks wait for a thread, 80 % of ingest\.queue_max \(256\): /),
      since_utc: null,
    },
  ]);
});

it('troublesOf goes through ten thousand lists while other work runs in between', async () => {
  const all = Array.from({ length: 10_000 }, (_, at) => ({ id: `l${at}`, name: `l${at}` }));
  const catalog = { accounts: () => [{ name: 'default' }], lists: () => all } as unknown as Catalog;
  const asked: number[] = [];
  let turn = 0;
  const indexes = {
    outline: () => undefined,
    refusal: () => {
      asked[turn] = (asked[turn] ?? 0) + 1;
      return undefined;
    },
  };
  let isDone = false;
  const count = () => {
    turn += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  expect(await troublesOf({ catalog, indexes, features: new OpenFeatures() })).toEqual([]);
  isDone = true;
  expect(asked.reduce((sum, each) => sum + each, 0)).toBe(all.length);
  expect(Math.max(...asked)).toBeLessThan(1000);
});
