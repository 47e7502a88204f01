/**
 * Tests a disk that cannot be read under vectors, one that fails only once, and one whose quota is used up: no answer
 * has fewer hits, and everything is back without a restart. (A list whose own store has failed is closed:
 * `unreadable-disk.test.ts`.)
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { canMountFaulty, FaultyFileSystem } from '../support/faulty-file-system.js';
import { SeededRandom } from '../support/random.js';
import { TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const RECORDS = 400;
const DIMENSIONS = 512;
const SEARCHES = 20;
/** Makes segments larger than what the service reads at its start. */
const WORDS_OF_RECORD = 150;

let root: string;
let disk: FaultyFileSystem;
let service: TestService;
let segments: string;

/** In a random direction. */
const vectorOf = (index: number) => {
  const random = new SeededRandom(index);
  return Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
};
const records = Array.from({ length: RECORDS }, (_, index) => ({
  name: `r${index}`,
  fields: {
    title: `common ${Array.from({ length: WORDS_OF_RECORD }, (_word, word) => `of${index}x${word}`).join(' ')}`,
  },
  vector: vectorOf(index),
}));

const byWords = () => service.client.get('/search/default/hit/1', { query: 'common', size: 1 });
const byVector = (index: number) =>
  service.client.post('/search/default/hit/1', { vector: vectorOf(index), size: 1, select: [] });
const namesOf = ({ body }: Answer) => (body as { results?: { name: string }[] }).results?.map(({ name }) => name);
const isFound = (index: number) => (answer: Answer) => answer.status === 200 && namesOf(answer)?.[0] === `r${index}`;
/** An answer that did not use the vector says so. */
const isFoundOrRefused = (index: number) => (answer: Answer) =>
  answer.status === 503 ||
  isFound(index)(answer) ||
  (answer.body as { applied?: { meaning: string } }).applied?.meaning !== 'used';
const isWhole = (answer: Answer) =>
  answer.status === 200 && (answer.body as { total_count: number }).total_count === RECORDS;

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a disk',
  () => {
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-unreadable-vectors-'));
      disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'));
      service = new TestService(join(root, 'on'), { dataDir: join(root, 'on') });
      await service.start();
      const { client } = service;
      const list = { name: 'hit', model: 'own', searchable_fields: [{ name: 'title' }] };
      expect((await client.post('/list/default', list)).status).toBe(201);
      expect((await client.bulk('default', 'hit', records)).status).toBe(200);
      const [id = ''] = readdirSync(join(root, 'on', 'lists'));
      segments = `${id}/segments/`;
      await eventually(
        () => Promise.resolve(readdirSync(join(root, 'on', 'lists', segments)).filter((each) => each.endsWith('.gvs'))),
        (files) => files.length > 0,
      );
      await eventually(() => byVector(7), isFound(7));
    });
    afterEach(async () => {
      await service.stop('SIGKILL');
      await disk.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    it('that cannot be read under vectors gives no wrong hits, and searches by words work', async () => {
      await disk.fail(['read'], 'EIO', '.gvs');
      await disk.forget();
      for (let count = 0; count < SEARCHES; count += 1) {
        expect(await byVector(count)).toSatisfy(isFoundOrRefused(count));
        expect(await byWords()).toSatisfy(isWhole);
      }
      await disk.heal();
      await eventually(() => byVector(3), isFound(3));
      await eventually(byWords, isWhole);
    });

    it.each(['.gvs', '/segments/0', '/system/data.mdb', '/analytics/', '/queue/'])(
      'that fails once under %s works completely afterwards, without a restart',
      async (part) => {
        await disk.fail(['read'], 'EIO', part);
        await disk.forget();
        await Promise.all([byVector(3), byWords(), service.client.post('/list/default', { name: 'other' })]);
        await disk.heal();
        await eventually(() => byVector(3), isFound(3));
        await eventually(byWords, isWhole);
        await eventually(
          () => service.client.post('/list/default', { name: 'third' }),
          ({ status }) => status === 201 || status === 409,
        );
        await eventually(
          () =>
            service.client.post('/search-result/default/hit', {
              name: 'r3',
              fields: { title: 'common' },
              vector: vectorOf(3),
            }),
          ({ status }) => status < 300,
        );
      },
    );

    it('whose quota is used up refuses writes like a full one, and works completely afterwards', async () => {
      const { client } = service;
      await disk.fail(['write', 'change', 'sync'], 'EDQUOT', '/');
      const refused = [
        await client.post('/search-result/default/hit', { name: 'new', fields: { title: 'common' } }),
        await client.bulk('default', 'hit', [{ name: 'new', title: 'common' }]),
        await client.post('/list/default', { name: 'other' }),
        await client.send('PUT', '/media/default/default/file', { bytes: 'mine' }),
      ];
      expect(await byWords()).toMatchObject({ status: 200, body: { total_count: RECORDS } });
      await disk.heal();
      expect(
        (await client.post('/search-result/default/hit', { name: 'new', fields: { title: 'other' } })).status,
      ).toBe(201);
      expect((await client.post('/list/default', { name: 'other' })).status).toBe(201);
      expect((await client.send('PUT', '/media/default/default/file', { bytes: 'mine' })).status).toBe(201);
      expect(await byWords()).toMatchObject({ status: 200, body: { total_count: RECORDS } });
      await eventually(() => byVector(3), isFound(3));
      for (const answer of refused) expect(answer).toMatchObject({ status: 507, body: { code: 'storage-full' } });
    });
  },
);
