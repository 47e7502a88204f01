/**
 * Tests a set-up that replaces the program of a running service: the service continues with the files that it was
 * started from, and says that it must be restarted.
 */
import { readdirSync, readlinkSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExtendedPackage } from '../support/extended-package.js';
import { startTestService, type TestService } from '../support/service.js';

const extended = new ExtendedPackage();
let service: TestService;

beforeAll(async () => {
  extended.build();
  service = await startTestService({ packageRoot: extended.root });
});
afterAll(async () => {
  await service.stop();
  extended.remove();
});

const LIST_TOOLS = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

interface State {
  readonly troubles: readonly { readonly kind: string; readonly detail: string }[];
}

async function troubles(): Promise<State['troubles']> {
  return ((await service.control().get('/service/state/default')).body as State).troubles;
}

it('The service and its threads load later parts from the program that they were started from', async () => {
  expect(await troubles()).toEqual([]);
  // Another text in a file that all others need gives all of them new names.
  extended.row('platform/errors.ts', "'shutting-down': { status: 503, title: 'The service is stopping", ' now');
  extended.build();
  expect(await troubles()).toMatchObject([{ kind: 'program', detail: expect.stringContaining('dist/bundle') }]);
  expect((await service.client.post('/list/default', { name: 'words', facets: [] })).status).toBe(201);
  // The webhook worker starts with the first webhook, and tools of agents are loaded with the first message of an
  // agent.
  const created = await service.client.post('/webhook', { url: 'https://a.example/', events: ['list.created'] });
  expect(created.status, created.text).toBe(201);
  const { id } = created.body as { readonly id: string };
  expect((await service.control().get(`/webhook/default/${id}/deliveries`)).status).toBe(200);
  const tools = await service.client.post('/mcp', LIST_TOOLS);
  expect(tools.status, tools.text).toBe(200);
});

it('The service answers 503 with advice if its program was deleted', async () => {
  for (const name of readdirSync(join(extended.root, 'dist', 'bundles')))
    if (name !== basename(readlinkSync(join(extended.root, 'dist', 'bundle'))))
      rmSync(join(extended.root, 'dist', 'bundles', name), { recursive: true });
  expect(await service.client.get('/console/')).toMatchObject({
    status: 503,
    body: { code: 'program-replaced', detail: expect.stringContaining('restart the service') },
  });
});
