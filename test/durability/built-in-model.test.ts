/**
 * Tests the built-in model while it is learned: a killed service continues learning after its start, and one with a
 * full disk searches by words and learns when there is room again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const KILLS = Number(process.env['GANNET_LEARNING_KILLS'] ?? 3);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
const RECORDS = 240;
const TOPICS = ['sea', 'money', 'garden', 'engine'];
const WORDS_OF_TOPIC = 12;
const WORDS_OF_RECORD = 4;

let service: TestService | undefined;
let folder: string | undefined;
let disk: SmallFileSystem | undefined;
afterEach(async () => {
  await service?.stop('SIGKILL');
  disk?.unmount();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  [service, disk, folder] = [undefined, undefined, undefined];
});

async function started(): Promise<TestService> {
  folder = mkdtempSync(join(tmpdir(), 'gannet-learning-'));
  return (service = await startTestService({ dataDir: folder }));
}

/** Returns a record with words of one topic only. */
function recordOf(number: number) {
  const random = new SeededRandom(number);
  const topic = TOPICS[number % TOPICS.length] as string;
  const words = Array.from({ length: WORDS_OF_RECORD }, () => topic + String(random.below(WORDS_OF_TOPIC)));
  return { name: `${topic}-${number}`, title: [...new Set(words)].join(' ') };
}

interface Meaning {
  readonly state: string;
  readonly embedded: number;
  readonly pending: number;
  readonly failed: number;
}

/**
 * What the service logs if a full disk stops it: the model, its queue, its vectors or their index cannot be written.
 */
const COMPLAINT =
  /model could not be learned|Could not queue records for embedding|Could not write vectors|index of vectors could not be made/;

async function meaningOf({ client }: TestService, list: string): Promise<Meaning> {
  const { body, status, text } = await client.get(`/list/default/${list}`);
  expect(status, text).toBe(200);
  return (body as { readonly meaning: Meaning }).meaning;
}

async function made({ client }: TestService, name: string, model: string | null): Promise<void> {
  const { status, text } = await client.post('/list/default', { name, model, searchable_fields: [{ name: 'title' }] });
  expect(status, text).toBe(201);
}

/**
 * Waits until every record has its vector, or a reason for having none: words that came after the model was learned.
 * Then a word must find records of its topic, also without the word.
 */
async function expectLearned(of: TestService, list: string, records: number): Promise<void> {
  const settled = await eventually(
    () => meaningOf(of, list),
    ({ state, embedded, pending, failed }) => state === 'ready' && embedded + failed === records && pending === 0,
  );
  expect(settled.embedded).toBeGreaterThan(settled.failed);
  const search = async (options: object) => {
    const { body, status, text } = await of.client.post(`/search/default/${list}/1`, {
      query: 'sea0',
      size: 100,
      cache: false,
      ...options,
    });
    expect(status, text).toBe(200);
    return body as { readonly total_count: number; readonly results: readonly { readonly name: string }[] };
  };
  const words = await search({ vector_search: false });
  // The scale of cosines is calibrated after all records have their vectors.
  const both = await eventually(
    () => search({}),
    ({ total_count: total }) => total > words.total_count,
  );
  for (const { name } of both.results) expect(name).toMatch(/^sea-/);
}

it(`The built-in model is completely learned across ${KILLS} kills, and again after the list has grown`, async () => {
  const of = await started();
  await made(of, 'learned', 'built-in');
  const random = new SeededRandom(SEED);
  const perKill = Math.floor(RECORDS / KILLS);
  let written = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const more = Array.from({ length: perKill }, (_, index) => recordOf(written + index));
    expect((await of.client.bulk('default', 'learned', more)).status).toBe(200);
    written += perKill;
    // Kills while the model is learned, while vectors are made, or when all is done.
    const until = random.below(written);
    await eventually(
      () => meaningOf(of, 'learned'),
      ({ embedded, pending }) => written < 64 || embedded >= until || pending === 0,
    );
    await of.stop('SIGKILL');
    await of.start();
  }
  await expectLearned(of, 'learned', written);
});

itWhere(canMount('the built-in model on a full disk'), 'this process may not mount')(
  'The built-in model is learned when a full disk has room again, and searches by words find records meanwhile',
  async () => {
    const of = await started();
    await of.stop();
    disk = SmallFileSystem.mount(join(folder as string, 'lists'));
    await of.start();
    const rooms = [0, 65_536, 262_144, 1_048_576];
    const lists = rooms.map((room) => `room-${room}`);
    for (const list of lists) {
      await made(of, list, null);
      const records = Array.from({ length: RECORDS }, (_, number) => recordOf(number));
      expect((await of.client.bulk('default', list, records)).status).toBe(200);
    }
    for (const [index, room] of rooms.entries()) {
      const list = lists[index] as string;
      if (room === 0) disk.shrink();
      else disk.shrinkTo(room);
      const before = of.output.length;
      const { status, body } = await of.client.put(`/list/default/${list}`, { model: 'built-in' });
      if (status >= 300) expect({ status, body }).toMatchObject({ status: 507, body: { code: 'storage-full' } });
      else {
        await eventually(
          async () => COMPLAINT.test(of.output.slice(before)) || (await meaningOf(of, list)).state === 'ready',
          (is) => is,
        );
      }
      const found = await of.client.post(`/search/default/${list}/1`, { query: 'sea0', vector_search: false });
      expect(found.status, found.text).toBe(200);
      expect((found.body as { total_count: number }).total_count).toBeGreaterThan(0);
      disk.grow();
    }
    for (const list of lists) {
      const { status, text } = await of.client.put(`/list/default/${list}`, { model: 'built-in' });
      expect(status, text).toBe(200);
      await expectLearned(of, list, RECORDS);
    }
  },
);
