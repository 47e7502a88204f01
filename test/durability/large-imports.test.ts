/**
 * Tests imports whose commits are so large that a separate thread builds their segments: if the service is killed,
 * the disk fills up, the client disconnects or the list is deleted, nothing acknowledged is lost, and nothing is left
 * incomplete.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { itWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';
import { startTestService, type TestService } from '../support/service.js';
import { checkCopyOf } from './index-check.js';

const ROUNDS = Number(process.env['GANNET_KILL_ROUNDS'] ?? 5);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
const ROUND_MS_MAX = 240_000;
const KILL_AFTER_MS_MAX = 1500;
/** Several commits, each of several pieces. */
const RECORDS = 60_000;
const CHUNK_RECORDS = 500;
const DEFINITION = {
  searchable_fields: [{ name: 'title' }],
  facets: [{ name: 'number', type: 'number', cardinality: 'Single' }],
};
const SETTINGS = { GANNET_LOG_LEVEL: 'fatal' };

let service: TestService;
const dataDir = mkdtempSync(join(tmpdir(), 'gannet-large-'));
beforeAll(async () => {
  service = await startTestService({ dataDir, env: SETTINGS });
});
afterAll(async () => {
  await service.stop('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

const line = (number: number, round = 0) =>
  `${JSON.stringify({ name: `r${number}`, title: `record ${number} ${'and more words '.repeat(12)}`, number: round })}\n`;

function* lines(count: number, round = 0): Generator<Buffer> {
  for (let begin = 0; begin < count; begin += CHUNK_RECORDS) {
    const chunk = Array.from({ length: Math.min(CHUNK_RECORDS, count - begin) }, (_, at) => line(begin + at, round));
    yield Buffer.from(chunk.join(''));
  }
}

async function makeList(name: string): Promise<void> {
  const made = await service.client.post('/list/default', { name, ...DEFINITION });
  expect(made.status, made.text).toBe(201);
}

interface Imported {
  readonly status: number;
  readonly body: { readonly created?: number; readonly updated?: number; readonly code?: string };
}

async function importInto(
  name: string,
  body: Iterable<Buffer> | AsyncIterable<Buffer>,
  signal?: AbortSignal,
): Promise<Imported> {
  const response = await fetch(`${service.address}/search-result/default/${name}/bulk`, {
    method: 'POST',
    headers: { 'x-api-key': service.client.key, 'content-type': 'application/x-ndjson' },
    body: Readable.from(body),
    duplex: 'half',
    ...(signal === undefined ? {} : { signal }),
  } as RequestInit);
  return { status: response.status, body: (await response.json()) as Imported['body'] };
}

async function count(name: string): Promise<number> {
  const answer = await service.client.get(`/search-result/default/${name}`, { size: 1 });
  expect(answer.status, answer.text).toBe(200);
  return (answer.body as { total_count: number }).total_count;
}

interface Stored {
  readonly name: string;
  readonly fields: { readonly number: readonly number[] };
}

/** Yields all records in their order, however many there are. */
async function* recordsOf(name: string): AsyncGenerator<Stored> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const from = after === '' ? {} : { after };
    const answer = await service.client.get(`/search-result/default/${name}`, { size: 1000, ...from });
    expect(answer.status, answer.text).toBe(200);
    const page = answer.body as { results: readonly Stored[]; next?: string };
    yield* page.results;
    after = page.next;
  }
}

/** The folder of a list, finished or not. */
const listFolder = (id: string) => join(dataDir, 'lists', id);
const folders = () => readdirSync(join(dataDir, 'lists'));
const segmentFiles = (id: string) =>
  readdirSync(join(listFolder(id), 'segments'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

describe('a large import', () => {
  it(
    `is there up to its last commit and in order, after ${ROUNDS} kills in the middle`,
    async () => {
      const random = new SeededRandom(SEED);
      await makeList('killed');
      const problems: string[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        const running = importInto('killed', lines(RECORDS, round)).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, random.below(KILL_AFTER_MS_MAX)));
        await service.stop('SIGKILL');
        const answer = await running;
        problems.push(...(await checkCopyOf(dataDir)));
        service = await startTestService({ dataDir, env: SETTINGS });
        const rounds: number[] = [];
        for await (const { name, fields } of recordsOf('killed')) {
          // A record keeps the place that it got when it was new.
          if (name !== `r${rounds.length}`) problems.push(`record ${rounds.length} is ${name}`);
          rounds.push(fields.number[0] as number);
        }
        // Records of this import come first, then those of earlier imports, which did not come as far.
        const gap = rounds.findIndex((value, at) => at > 0 && value > (rounds[at - 1] as number));
        if (gap >= 0) problems.push(`round ${round}: record ${gap} is newer than the one before it`);
        if (answer?.status === 200 && rounds.includes(round - 1)) problems.push('an acknowledged import has a gap');
      }
      expect(problems.slice(0, 10), `seed ${SEED}`).toEqual([]);
    },
    ROUNDS * ROUND_MS_MAX,
  );

  it('works alongside another into the same list, and one into another list', async () => {
    await makeList('together');
    await makeList('alone');
    const other = function* () {
      for (const chunk of lines(RECORDS)) yield Buffer.from(chunk.toString().replaceAll('"name":"r', '"name":"s'));
    };
    const answers = await Promise.all([
      importInto('together', lines(RECORDS)),
      importInto('together', other()),
      importInto('alone', lines(RECORDS)),
    ]);
    expect(answers.map(({ status, body }) => [status, body.created])).toEqual(answers.map(() => [200, RECORDS]));
    expect([await count('together'), await count('alone')]).toEqual([2 * RECORDS, RECORDS]);
    expect(await checkCopyOf(dataDir)).toEqual([]);
  });

  it('whose client disconnects is there as far as it came, and the next one is complete', async () => {
    await makeList('left');
    const leaving = new AbortController();
    const body = function* () {
      let sent = 0;
      for (const chunk of lines(RECORDS)) {
        if (sent++ === RECORDS / CHUNK_RECORDS - 10) leaving.abort();
        yield chunk;
      }
    };
    await expect(importInto('left', body(), leaving.signal)).rejects.toThrow();
    // Whole commits of what arrived, or nothing; the next import is complete.
    expect((await importInto('left', lines(RECORDS, 1))).status).toBe(200);
    expect(await count('left')).toBe(RECORDS);
    expect(await checkCopyOf(dataDir)).toEqual([]);
  });

  it('whose list is deleted in the middle is refused, and leaves no file', async () => {
    const before = new Set(folders());
    await makeList('gone');
    const id = folders().find((folder) => !before.has(folder)) as string;
    let goOn = (): void => undefined;
    const isDeleted = new Promise<void>((resolve) => (goOn = resolve));
    const body = async function* () {
      let sent = 0;
      for (const chunk of lines(RECORDS)) {
        // After the records of the first commits.
        if ((sent += 1) === RECORDS / CHUNK_RECORDS - 10) await isDeleted;
        yield chunk;
      }
    };
    const running = importInto('gone', body());
    await eventually(
      async () => segmentFiles(id).length,
      (files) => files > 0,
    );
    expect((await service.client.delete('/list/default/gone')).status).toBe(204);
    goOn();
    expect((await running).status).toBe(404);
    await eventually(
      async () => folders(),
      (all) => !all.includes(id),
    );
    await makeList('gone');
    expect((await importInto('gone', lines(2000))).body.created).toBe(2000);
  });

  itWhere(canMount('imports into a full disk of segments'), 'mounting a small file system takes root')(
    'is refused if the disk of the segments is full but that of the records is not, and leaves nothing of the commit',
    async () => {
      const before = new Set(folders());
      await makeList('full');
      const id = folders().find((folder) => !before.has(folder)) as string;
      const disk = SmallFileSystem.mount(join(listFolder(id), 'segments'));
      try {
        expect((await importInto('full', lines(100))).status).toBe(200);
        disk.shrink();
        const refused = await importInto('full', lines(5000, 1));
        expect([refused.status, refused.body.code]).toEqual([507, 'storage-full']);
        expect(await count('full')).toBe(100);
        disk.grow();
        const { status, body } = await importInto('full', lines(5000, 2));
        expect([status, body.created, body.updated]).toEqual([200, 4900, 100]);
        expect((await service.client.delete('/list/default/full')).status).toBe(204);
      } finally {
        disk.unmount();
      }
    },
  );
});
