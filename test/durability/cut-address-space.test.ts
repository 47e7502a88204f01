/**
 * Tests a service whose address space is limited while it writes. V8 ends it with the first thread or heap that it
 * can no longer create; what was acknowledged is there after the next start, as by a supervisor.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, expect } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

const WRITES = 60;
/** The limit is set after this number of writes, to what is used and this many bytes more. */
const CUT_BEHIND = 20;
const MORE_BYTES = 16 * 2 ** 20;

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop('SIGKILL');
  await service?.close();
});

function cutAddresses(pid: number): void {
  const usedKib = Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  execFileSync('prlimit', [`--pid=${pid}`, `--as=${usedKib * 1024 + MORE_BYTES}:`]);
}

/** Returns the status; undefined if the service ends instead. */
async function write({ client }: TestService, name: string, records: number): Promise<number | undefined> {
  try {
    const lines = Array.from({ length: records }, (_, number) => ({ name: `${name}-${number}`, title: 'word' }));
    return (await client.bulk('default', 'films', lines)).status;
  } catch {
    return undefined;
  }
}

itWhere(process.platform === 'linux', 'limits of Linux')(
  'A service whose address space is cut loses no acknowledged write, whether it ends or refuses writes',
  async () => {
    service = await startTestService();
    const list = { name: 'films', searchable_fields: [{ name: 'title' }] };
    expect((await service.client.post('/list/default', list)).status).toBe(201);
    let acknowledged = 0;
    let unanswered = 0;
    for (let number = 0; number < WRITES && unanswered === 0; number += 1) {
      if (number === CUT_BEHIND) cutAddresses(service.pid);
      const status = await write(service, `r${number}`, 1 + number);
      if (status === undefined) unanswered = 1 + number;
      else if (status === 200) acknowledged += 1 + number;
      else expect([503, 507]).toContain(status);
    }
    expect(acknowledged).toBeGreaterThan(CUT_BEHIND);
    await service.stop('SIGKILL');
    await service.start();
    const { body } = await service.client.get('/search/default/films/1', { query: 'word' });
    const { total_count: found } = body as { readonly total_count: number };
    expect([acknowledged, acknowledged + unanswered]).toContain(found);
    expect(await write(service, 'last', 1)).toBe(200);
  },
);
