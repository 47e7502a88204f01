/**
 * Tests settings that change as fast as possible while records are written, versions built, lists copied and checked.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import type { Answer } from '../support/client.js';

const BULK_CALLS = 12;
const RECORDS = 250;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    env: {
      GANNET_INGEST_BATCH_RECORDS_MAX: '50',
      GANNET_INGEST_MERGE_FAN_IN: '3',
      GANNET_VERSIONS_KEPT: '1',
      GANNET_SEARCH_THREADS: '2',
    },
  });
});
afterAll(() => service.close());

it('Changes of settings disturb no concurrent work, and apply from the next search on', async () => {
  const { client } = service;
  const facet = { name: 'year', type: 'number', cardinality: 'Single' };
  const fields = { searchable_fields: [{ name: 'title' }], facets: [facet] };
  expect((await client.post('/list/default', { name: 'films', ...fields })).status).toBe(201);
  const others: { readonly what: string; readonly answer: Answer }[] = [];
  let done = false;
  const until = async (what: string, action: (round: number) => Promise<Answer>) => {
    for (let round = 0; !done; ++round) others.push({ what, answer: await action(round) });
  };
  const beside = [
    until('synonyms', (round) => {
      const rules = [{ kind: 'equivalent', terms: [`word${round}`, 'gannet'] }];
      return client.put('/list/synonyms/default/films', { rules });
    }),
    until('fields', (round) => client.put('/list/default/films', { facets: round % 2 === 0 ? [] : [facet] })),
    until('check', () => service.control().send('POST', '/list/default/films/check')),
    until('clone', (round) => client.post('/list/default/films/clone', { name: `copy-${round}` })),
    until('delete', async (round) => client.delete(`/list/default/copy-${round}`)),
  ];
  // The names are the same each time, so that the replaced records are looked up in the generation.
  const records = Array.from({ length: RECORDS }, (_, index) => ({ name: `n${index}`, title: 'gannet', year: index }));
  try {
    for (let call = 0; call < BULK_CALLS; ++call) {
      const { status, text, body } = await client.bulk('default', 'films', records);
      expect([status, body], text).toMatchObject([200, { failed: 0 }]);
    }
  } finally {
    done = true;
    await Promise.all(beside);
  }
  // A copy may be deleted before it exists, and a list may be copied while a list of that name exists.
  const refused = others.filter(({ answer }) => ![200, 201, 204, 404, 409].includes(answer.status));
  expect(refused.map(({ what, answer }) => `${what}: ${answer.status} ${answer.text}`)).toEqual([]);
  const rules = [{ kind: 'equivalent', terms: ['seabird', 'gannet'] }];
  expect((await client.put('/list/synonyms/default/films', { rules })).status).toBe(200);
  // A version that is still being built would replace the one that is searched.
  const list = await eventually(
    async () =>
      (await client.get('/list/default/films')).body as { current_version: number; versions: { state: string }[] },
    ({ versions }) => versions.every(({ state }) => state === 'ready'),
  );
  const version = list.current_version;
  const found = await client.get(`/search/default/films/${version}`, { query: 'seabird', size: 0 });
  expect(found.body, found.text).toMatchObject({ total_count: RECORDS });
  const check = await service.control().send('POST', '/list/default/films/check');
  expect(check.body, check.text).toMatchObject({ ok: true });
});

it.runIf(process.platform === 'linux')('Threads have names that say what they do', () => {
  const names = service.threadNames();
  expect(names.filter((name) => name === 'gannet-search')).toHaveLength(2);
  expect(names).toContain('gannet-writes');
});
