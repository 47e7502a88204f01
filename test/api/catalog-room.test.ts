/**
 * Tests that requests which would fill the catalogue's memory are refused, and that a start has memory enough for
 * what exists.
 */
import { expect, it } from 'vitest';
import { startTestService } from '../support/service.js';

/** A quarter of it is for the catalogue, and one account may use half of that. */
const MEMORY_MIB = 256;
const RULES = 4900;
const TERMS = 5;
const TERM_CHARACTERS = 80;
const COPIES_MAX = 40;

it("Copies of a list with many rules are refused before they fill the catalogue's memory", async () => {
  const service = await startTestService({ env: { GANNET_MEMORY_MIB: String(MEMORY_MIB) } });
  try {
    const { client } = service;
    await client.post('/list/default', { name: 'first', searchable_fields: [{ name: 'title' }] });
    const rules = Array.from({ length: RULES }, (_, rule) => ({
      kind: 'equivalent',
      terms: Array.from({ length: TERMS }, (_, term) => `word${rule}n${term}`.padEnd(TERM_CHARACTERS, 'x')),
    }));
    expect((await client.put('/list/synonyms/default/first', { rules })).status).toBe(200);
    let copies = 0;
    for (; copies < COPIES_MAX; copies += 1) {
      const { status, body } = await client.post('/list/default/first/clone', { name: `copy-${copies}` });
      if (status === 201) continue;
      expect({ status, body }).toMatchObject({ status: 507, body: { code: 'limit-reached' } });
      break;
    }
    expect(copies).toBeGreaterThan(1);
    expect(copies).toBeLessThan(COPIES_MAX);
    expect(await client.get(`/list/default/copy-${copies}`)).toMatchObject({ status: 404 });
    const larger = [...rules, { kind: 'equivalent', terms: ['one', 'two'.repeat(20)] }];
    expect((await client.put('/list/synonyms/default/copy-0', { rules: rules.slice(1) })).status).toBe(200);
    expect((await client.put('/list/synonyms/default/copy-1', { rules: larger })).status).toBe(200);
    // Other changes in the same request are not applied if its rules are refused.
    await client.post('/list/default', { name: 'without', searchable_fields: [{ name: 'title' }] });
    const without = await client.get('/list/default/without');
    const searchable_fields = [{ name: 'title' }, { name: 'text' }];
    const both = await client.put('/list/default/without', { searchable_fields, synonym_rules: larger });
    expect(both).toMatchObject({ status: 507, body: { code: 'limit-reached' } });
    expect((await client.get('/list/default/without')).body).toEqual(without.body);

    await service.stop();
    await service.start();
    expect((await service.client.get('/list/synonyms/default/copy-1')).body).toEqual({ rules: larger });
    expect((await service.client.post('/list/default/first/clone', { name: 'more' })).status).toBe(507);
    expect((await service.client.delete('/list/default/copy-0')).status).toBe(204);
    expect((await service.client.post('/list/default/first/clone', { name: 'more' })).status).toBe(201);
  } finally {
    await service.close();
  }
});
