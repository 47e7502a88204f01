/** Tests that a closed list is opened when one of its files changes, without a request for the list. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pdfOf } from '../support/pdf.js';
import { startTestService, type TestService } from '../support/service.js';

const OPEN_MAX = 4;
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_LISTS_OPEN_MAX: String(OPEN_MAX) } });
});
afterAll(() => service.close());

async function made(name: string, resources: readonly object[] = []) {
  const { status } = await service.client.post('/list/default', {
    name,
    model: 'own',
    searchable_fields: [{ name: 'title' }],
    resources,
  });
  expect(status).toBe(201);
}

const upload = (bytes: Uint8Array) =>
  service.client.send('PUT', '/media/default/default/m.pdf', {
    bytes,
    headers: { 'content-type': 'application/pdf' },
  });
const state = async () => {
  const { body } = await service.client.get('/list/default/papers');
  const { read, failed, pending } = (body as { resources_state: Record<string, number> }).resources_state;
  return { read, failed, pending };
};

it('A closed list reads a changed file of a media store', async () => {
  await made('papers', [{ name: 'report', kind: 'document' }]);
  await upload(Buffer.from('no document'));
  await service.client.bulk('default', 'papers', [{ name: 'r', title: 'Report', report: 'media:default/m.pdf' }]);
  await expect.poll(state).toEqual({ read: 0, failed: 1, pending: 0 });
  for (let number = 0; number < 2 * OPEN_MAX; number += 1) {
    await made(`other-${number}`);
    // A list is closed when the work in it is done.
    await expect.poll(() => service.metric('gannet_lists_open')).toBeLessThanOrEqual(OPEN_MAX);
  }
  await upload(pdfOf([{ lines: ['Now it is one'] }]));
  await expect.poll(state).toEqual({ read: 1, failed: 0, pending: 0 });
});
