/** A service whose descriptors are taken from it while it serves: a write for which no thread can be started is refused, and done later. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

/** So many more than are open: enough to begin with a thread, and not for one. */
const LEFT = 3;

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop('SIGKILL');
});

function mayOpen(pid: number, descriptors: number): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${descriptors}:`]);
}

/** The lowest number that is free: a limit is one of numbers. */
function firstFree(pid: number): number {
  const taken = new Set(readdirSync(`/proc/${pid}/fd`));
  return (
    Array.from({ length: taken.size + 1 }, (_, number) => number).find((number) => !taken.has(String(number))) ?? 0
  );
}

describeWhere(process.platform === 'linux', 'limits of Linux')('a service whose descriptors are taken', () => {
  it('refuses what it has no thread for, searches on, and writes when it has them back: a write was never answered', async () => {
    service = await startTestService();
    const { client, pid } = service;
    expect((await client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] })).status).toBe(
      201,
    );
    const search = () => client.get('/search/default/films/1', { query: 'word' });
    expect((await search()).status).toBe(200);
    const write = (name: string) => client.bulk('default', 'films', [{ name, title: 'word' }]);
    mayOpen(pid, firstFree(pid) + LEFT);
    expect(await write('early')).toMatchObject({ status: 503, body: { code: 'resources-exhausted' } });
    expect(await search()).toMatchObject({ status: 200, body: { total_count: 0 } });
    mayOpen(pid, 4096);
    await eventually(
      () => write('late'),
      ({ status }) => status === 200,
    );
    await eventually(search, ({ body }) => (body as { total_count?: number }).total_count === 1);
  });
});
