/**
 * Tests an import into a file system that fills up: a clear answer, the list still works, nothing acknowledged is
 * lost, and writes work again when there is space. Needs the right to mount a small file system; without it, the test
 * is skipped and says so.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
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
const FIELDS = { searchable_fields: [{ name: 'title' }, { name: 'text' }] };
/** Far fewer merges than this can free space while the disk is full. */
const TRIES_MAX = 100;
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
    // Has its own words, so that no dictionary of the list compresses them.
    text: `some words ${createHash('sha512').update(`${batch} ${index}`).digest('base64')}`,
  }));

function fillUp(): void {
  const file = openSync(join(mountPoint, 'filler'), 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
}

/**
 * Fills the free space and writes, until a write is refused: a merge may free space at any moment. Resolves with the
 * number of writes that were accepted before.
 */
async function refusedInTheEnd(write: (number: number) => Promise<Answer>): Promise<number> {
  for (let taken = 0; taken < TRIES_MAX; taken += 1) {
    fillUp();
    const { status, text } = await write(taken);
    if (status === 507) return taken;
    expect(status, text).toBe(201);
  }
  throw new Error(`${TRIES_MAX} writes were taken on a full disk`);
}

const total = async ({ client }: TestService, query?: string): Promise<number> => {
  const answer = await client.get(`/search/default/${LIST}/1`, { size: 1, ...(query === undefined ? {} : { query }) });
  expect(answer.status, answer.text).toBe(200);
  return (answer.body as { total_count: number }).total_count;
};

itWhere(mounted, 'mounting a small file system takes root')(
  'A service on a full disk answers writes with 507, loses nothing, and writes again when there is space',
  async () => {
    service = await startTestService({ dataDir: mountPoint, env: { GANNET_LOG_LEVEL: 'fatal' } });
    const made = await service.client.post('/list/default', {
      name: LIST,
      ...FIELDS,
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

    // Nothing of a refused batch is there.
    expect(await total(service)).toBe(acknowledged * BATCH_RECORDS);
    expect(await total(service, 'batch0')).toBe(BATCH_RECORDS);

    // Not a byte is free: a new list would need its lock file mapped, which must not end the process.
    const { client } = service;
    await refusedInTheEnd((number) => client.post('/list/default', { name: `another-${number}`, ...FIELDS }));
    const single = (number: number) => client.post(PATH, { name: `single-${number}`, fields: { title: 'no room' } });
    const before = acknowledged * BATCH_RECORDS + (await refusedInTheEnd(single));
    expect(await total(service)).toBe(before);

    expect(mount('remount', LARGE_MIB)).toBe(true);
    const accepted = await service.client.bulk('default', LIST, records(acknowledged));
    expect(accepted.status, accepted.text).toBe(200);
    const after = await service.client.post(PATH, { name: 'after', fields: { title: 'afterwards' } });
    expect(after.status, after.text).toBe(201);
    expect(await total(service)).toBe(before + BATCH_RECORDS + 1);

    // Searches were answered all the time, and are counted once there is space for it.
    const report = () => client.get(`/analytics/list/default/${LIST}`);
    const counted = await eventually(report, ({ status, body }) => {
      return status === 200 && (body as { total_searches: number }).total_searches >= SEARCHES;
    });
    expect(counted.body).toMatchObject({ total_searches: SEARCHES });

    await service.stop('SIGKILL');
    expect(await checkCopyOf(mountPoint)).toEqual([]);
    await service.start();
    expect(await total(service)).toBe(before + BATCH_RECORDS + 1);
    expect(await service.stop()).toBe(0);
  },
);
