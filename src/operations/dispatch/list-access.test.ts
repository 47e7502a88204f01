/**
 * A change of a list's settings and fields in one request whose fields are refused: all is as before, for open lists
 * and for searches.
 */
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';
import { openCatalog } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { openEnvironment, ServiceError, systemClock } from '../../platform/index.js';
import { changeSettings, searchSettings } from './list-access.js';
import type { Services } from './services.js';

const OPEN_MAX = 4;
const DEFINITION = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no' as const,
};
const NEW_LIST = {
  account: 'default',
  engine: 'managed' as const,
  language: 'en',
  query_rules: [],
  synonym_rules: [],
  model: null,
  reranker: null,
  suggestions: { require_click: false },
};

const lists = new ListsInFolder({ GANNET_LISTS_OPEN_MAX: String(OPEN_MAX) }, (inner) => ({
  waiting: 0,
  waitingByAccount: () => new Map(),
  run: (task, options) => {
    if (task.kind === 'start-build') return Promise.reject(new ServiceError('storage-full', 'The disk is full.'));
    return inner.run(task, options);
  },
}));
const system = openEnvironment(join(lists.dataDir, 'system'), { kind: 'system' });
afterEach(async () => {
  await lists.close();
  await system.close();
  await lists.remove();
});

function languageOf(index: ListIndex): unknown {
  const lease = index.lease();
  try {
    return (JSON.parse(kernel.generationSettings(lease.handle)) as { language: unknown }).language;
  } finally {
    lease.release();
  }
}

it('A refused change of settings and fields is also undone in an open list that was closed and reopened meanwhile', async () => {
  lists.open();
  const { indexes } = lists;
  const catalog = await openCatalog(system, systemClock);
  await catalog.createAccount('default', 'eu');
  const list = await catalog.createList({ ...NEW_LIST, name: 'things' });
  const index = await indexes.create(list.id, searchSettings(list), DEFINITION);
  const others = Array.from({ length: 2 * OPEN_MAX }, (_, number) => `other-${number}`);
  for (const other of others) await indexes.create(other, LIST_SETTINGS, DEFINITION);
  const atRest = async () => {
    for (const other of others) await indexes.open(other, LIST_SETTINGS);
    return indexes.opened(list.id);
  };
  let isFirst = true;
  const updateList: typeof catalog.updateList = async (...given) => {
    const record = await catalog.updateList(...given);
    if (!isFirst) return record;
    isFirst = false;
    await expect.poll(atRest, { interval: 5 }).toBeUndefined();
    expect(languageOf(await indexes.open(list.id, searchSettings(record)))).toBe('de');
    return record;
  };
  const services = { catalog: { updateList }, indexes } as unknown as Services;
  const facets = [{ name: 'size', type: 'number' as const, cardinality: 'Single' as const }];
  const change = changeSettings(services, { list, index }, { language: 'de' }, { ...DEFINITION, facets });
  await expect(change).rejects.toMatchObject({ code: 'storage-full' });
  expect(catalog.list('default', 'things')?.language).toBe('en');
  expect(languageOf(await indexes.open(list.id, LIST_SETTINGS))).toBe('en');
});
