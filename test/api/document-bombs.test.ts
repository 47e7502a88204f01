/**
 * Tests documents that would take all memory or time: each ends with a named error, and nothing else in the list is
 * affected.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockHolder } from '../../src/platform/index.js';
import { BOMBS } from '../support/pdf-bombs.js';
import { pdfOf } from '../support/pdf.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startFileServer } from '../support/served-files.js';
import { startTestService, type TestService } from '../support/service.js';

const FAULTS = ['timed-out', 'too-large', 'no-text', 'damaged'];
/** The most that the service's own memory may grow; the documents are read in processes of their own. */
const GROWN_MIB_MAX = 150;
const ROUNDS = 3;
const WAITING = { timeout: 450_000 };

let service: TestService;
let server: ScriptedServer;
const served = new Map<string, Buffer>();
beforeAll(async () => {
  server = await startFileServer(served);
  service = await startTestService({
    env: {
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      GANNET_DOCUMENTS_MEMORY_MIB_MAX: '250',
      GANNET_DOCUMENTS_SECONDS_MAX: '3',
    },
  });
});
afterAll(async () => {
  await service.close();
  await server.close();
});

it('Documents that would take all memory or time fail with a named error, and the other documents are read and found', async () => {
  const definition = {
    name: 'papers',
    model: 'own',
    searchable_fields: [{ name: 'title' }],
    resources: [{ name: 'report', kind: 'document' }],
  };
  expect((await service.client.post('/list/default', definition)).status).toBe(201);
  const before = service.ownMemoryMib();
  const records: { name: string; title: string; report: string }[] = [];
  const add = (name: string, bytes: Buffer) => {
    served.set(`/${name}.pdf`, bytes);
    records.push({ name, title: name, report: server.url(`/${name}.pdf`) });
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [kind, made] of Object.entries(BOMBS)) {
      // Each one is a different file with the same content.
      add(`${kind}-${round}`, Buffer.concat([made(), Buffer.from(`% ${round}`)]));
      add(`good-after-${kind}-${round}`, pdfOf([{ lines: [`Readable number ${round} after ${kind}`] }]));
    }
  }
  await service.client.bulk('default', 'papers', records);
  const state = async () => {
    const { body } = await service.client.get('/list/default/papers');
    return (body as { resources_state: { read: number; pending: number; failed: number; errors: { error: string }[] } })
      .resources_state;
  };
  await expect.poll(state, WAITING).toMatchObject({ read: records.length / 2, pending: 0, failed: records.length / 2 });
  const { errors } = await state();
  expect(errors.map(({ error }) => error).filter((error) => !FAULTS.includes(error))).toEqual([]);
  const found = async () => {
    const { body } = await service.client.post('/search/default/papers/1', { query: 'readable', size: 100 });
    return (body as { total_count: number }).total_count;
  };
  await expect.poll(found, WAITING).toBe(records.length / 2);
  expect(service.ownMemoryMib() - before).toBeLessThan(GROWN_MIB_MAX);
  // It is still the process that was started.
  expect(lockHolder(join(service.dataDir, 'lock'))?.pid).toBe(service.pid);
  expect(service.output.match(/"msg":"The service is ready"/g)).toHaveLength(1);
});
