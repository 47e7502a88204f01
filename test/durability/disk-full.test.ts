/**
 * An import into a file system that fills up: a clear answer, the list serves on, nothing acknowledged is lost, and writing
 * works again when there is space. Needs the right to mount a small file system; skipped, and said so, where that is missing.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { eventually } from '../support/eventually.js';
import { itWhere } from '../support/skip.js';
import { startTestService, type TestService } from '../support/service.js';
import type { Answer } from '../support/client.js';
import { checkCopyOf } from './index-check.js';

const SMALL_MIB = 24;
const LARGE_MIB = 512;
const BATCH_RECORDS = 2000;
const BATCHES_MAX = 60;
/** How often the test asks for a total before its service is killed. */
const SEARCHES = 4;
const LIST = 'full';
const PATH = `/search-result/default/${LIST}`;

const mountPoint = mkdtempSync(join(tmpdir(), 'gannet-full-'));
const mounted = mount('size', SMALL_MIB);
let service: TestService | undefined;

function mount(kind: 'size' | 'remount', mebibytes: number): boolean {
  const options = kind === 'remount' ? `remount,size=${mebibytes}m` : `size=${mebibytes}m`;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', mountPoint], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

afterAll(async () => {
  await service?.stop('SIGKILL');
  if (mounted) execFileSync('umount', ['-l', mountPoint]);
  rmSync(mountPoint, { recursive: true, force: true });
});

const records = (batch: number) =>
  Array.from({ length: BATCH_RECORDS }, (_, index) => ({
    name: `r${batch}-${index}`,
    title: `batch${batch} record${index}`,
    text: `some words ${index} `.repeat(8),
  }));

function fillUp(): void {
  const file = openSync(join(mountPoint, 'filler'), 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
}

const total = async ({ client }: TestService, query?: string): Promise<number> => {
  const answer = await client.get(`/search/default/${LIST}/1`, { size: 1, ...(query === undefined ? {} : { query }) });
  expect(answer.status, answer.text).toBe(200);
  return (answer.body as { total_count: number }).total_count;
};

itWhere(mounted, 'mounting a small file system takes root')(
  'answers 507, serves on, loses nothing, and writes again when there is space',
  async () => {
    service = await startTestService({ dataDir: mountPoint, env: { GANNET_LOG_LEVEL: 'fatal' } });
    const made = await service.client.post('/list/default', {
      name: LIST,
      searchable_fields: [{ name: 'title' }, { name: 'text' }],
    });
    expect(made.status, made.text).toBe(201);

    let acknowledged = 0;
    let refusal: Answer | undefined;
    for (; acknowledged < BATCHES_MAX && refusal === undefined; acknowledged += 1) {
      const answer = await service.client.bulk('default', LIST, records(acknowledged));
      if (answer.status !== 200) refusal = answer;
    }
    acknowledged -= 1;
    expect(refusal?.status, refusal?.text).toBe(507);
    expect(refusal?.body).toMatchObject({ code: 'storage-full' });

    // A batch that was refused is not there, not even in part.
    expect(await total(service)).toBe(acknowledged * BATCH_RECORDS);
    expect(await total(service, 'batch0')).toBe(BATCH_RECORDS);
    const refused = await service.client.bulk('default', LIST, records(acknowledged));
    expect(refused.status, refused.text).toBe(507);

    // Not a byte left: a new list would need its lock file mapped, which must not end the process.
    const { client } = service;
    for (const write of [
      () => client.post('/list/default', { name: 'another', searchable_fields: [{ name: 'title' }] }),
      () => client.post(PATH, { name: 'single', fields: { title: 'no room' } }),
    ]) {
      // What a merge had been through with gives room back a moment later.
      fillUp();
      const answer = await write();
      expect(answer.status, answer.text).toBe(507);
    }
    expect(await total(service)).toBe(acknowledged * BATCH_RECORDS);

    expect(mount('remount', LARGE_MIB)).toBe(true);
    const accepted = await service.client.bulk('default', LIST, records(acknowledged));
    expect(accepted.status, accepted.text).toBe(200);
    const single = await service.client.post(PATH, { name: 'after', fields: { title: 'afterwards' } });
    expect(single.status, single.text).toBe(201);
    expect(await total(service)).toBe((acknowledged + 1) * BATCH_RECORDS + 1);

    // Searches were answered all the time, and are counted once there is space for it.
    const report = () => client.get(`/analytics/list/default/${LIST}`);
    const counted = await eventually(report, ({ status, body }) => {
      return status === 200 && (body as { total_searches: number }).total_searches >= SEARCHES;
    });
    expect(counted.body).toMatchObject({ total_searches: SEARCHES });

    await service.stop('SIGKILL');
    expect(await checkCopyOf(mountPoint)).toEqual([]);
    await service.start();
    expect(await total(service)).toBe((acknowledged + 1) * BATCH_RECORDS + 1);
    expect(await service.stop()).toBe(0);
  },
);
