/**
 * Tests a disk of which some parts can no longer be read while the service runs: nothing is answered from these
 * parts, the service keeps running, and everything is back when the disk can be read.
 */
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { canMountFaulty, FaultyFileSystem } from '../support/faulty-file-system.js';
import { TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const RECORDS = 400;
const SEARCHES = 40;
const CODES_OF_HIT = ['not-ready', 'list-damaged', 'storage-damaged', 'shutting-down'];

let root: string;
let disk: FaultyFileSystem;
let service: TestService;

/** Makes segments large enough: smaller ones are read and not mapped when they are checked. */
const WORDS_OF_RECORD = 150;

const wordsOf = (index: number) => Array.from({ length: WORDS_OF_RECORD }, (_, word) => `of${index}x${word}`).join(' ');

const records = (list: string) =>
  Array.from({ length: RECORDS }, (_, index) => ({
    name: `${list}-${index}`,
    title: `${list} common word${index} ${wordsOf(index)}`,
  }));

const listId = async (name: string) => {
  const before = new Set(readdirSync(join(root, 'on', 'lists')));
  expect((await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] })).status).toBe(
    201,
  );
  expect((await service.client.bulk('default', name, records(name))).status).toBe(200);
  return readdirSync(join(root, 'on', 'lists')).find((each) => !before.has(each)) ?? '';
};

const search = (list: string, query = 'common') => service.client.get(`/search/default/${list}/1`, { query, size: 1 });

/** Expects all records or a refusal; never fewer records. */
function expectWholeOrRefused(answer: Answer, total: number): void {
  if (answer.status === 200) expect(answer.body).toMatchObject({ total_count: total });
  else expect([answer.status, CODES_OF_HIT], answer.text).toEqual([503, expect.arrayContaining([codeOf(answer)])]);
}

const codeOf = ({ body }: Answer) => (body as { code?: string }).code;

const isWhole = (total: number) => (answer: Answer) =>
  answer.status === 200 && (answer.body as { total_count: number }).total_count === total;

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a disk that cannot be read',
  () => {
    let hit: string;
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-unreadable-'));
      disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'));
      service = new TestService(join(root, 'on'), { dataDir: join(root, 'on') });
      await service.start();
      hit = await listId('hit');
      await listId('other');
    });
    afterEach(async () => {
      await service.stop('SIGKILL');
      await disk.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    it('under segments has them rebuilt, gives no wrong answers, and does not affect other lists', async () => {
      await disk.fail(['read'], 'EIO', `${hit}/segments/0`);
      await disk.forget();
      let refused = 0;
      for (let count = 0; count < SEARCHES; ++count) {
        const answer = await search('hit');
        if (answer.status !== 200) refused += 1;
        expectWholeOrRefused(answer, RECORDS);
        expectWholeOrRefused(await search('hit', `word${count}`), 1);
        expect(await search('other')).toMatchObject({ status: 200, body: { total_count: RECORDS } });
      }
      // Otherwise the disk was not read, and nothing was tested.
      expect(refused).toBeGreaterThan(0);
      await disk.heal();
      await eventually(() => search('hit'), isWhole(RECORDS));
      expect(
        (await service.client.post('/search-result/default/hit', { name: 'new', fields: { title: 'common' } })).status,
      ).toBe(201);
      expect(await search('hit')).toMatchObject({ body: { total_count: RECORDS + 1 } });
    });

    it('under segments has them rebuilt as well if the data directory is a link', async () => {
      await service.stop();
      symlinkSync(join(root, 'on'), join(root, 'link'));
      service = new TestService(join(root, 'link'), { dataDir: join(root, 'link') });
      await service.start();
      const linked = await listId('linked');
      await disk.fail(['read'], 'EIO', `${linked}/segments/0`);
      await disk.forget();
      expect(await search('linked')).toMatchObject({ status: 503, body: { code: 'not-ready' } });
      await disk.heal();
      await eventually(() => search('linked'), isWhole(RECORDS));
    });

    it('under segments that are written refuses the write or keeps it, and the service keeps running', async () => {
      await disk.fail(['read'], 'EIO', '/segments/');
      await disk.forget();
      const kept: string[] = [];
      for (let count = 0; count < 5; ++count) {
        const word = `more${count}`;
        const answer = await service.client.bulk('default', 'hit', records(word));
        expect([200, 503], answer.text).toContain(answer.status);
        if (answer.status === 200) kept.push(word);
        expectWholeOrRefused(await search('hit', 'hit'), RECORDS);
      }
      await disk.heal();
      for (let starts = 0; starts < 2; ++starts) {
        await eventually(() => search('hit', 'hit'), isWhole(RECORDS));
        for (const word of kept) await eventually(() => search('hit', word), isWhole(RECORDS));
        await eventually(() => search('other', 'other'), isWhole(RECORDS));
        if (starts === 0) await service.stop();
        if (starts === 0) await service.start();
      }
    });

    it('under a record that is deleted removes it from the index as well, or refuses the deletion', async () => {
      const { results } = (await search('hit', 'word7')).body as {
        readonly results: readonly { readonly id: string }[];
      };
      await disk.fail(['read'], 'EIO', `${hit}/segments/0`);
      await disk.forget();
      const { status, text } = await service.client.delete(`/search-result/default/hit/${results[0]?.id}`);
      expect([204, 503], text).toContain(status);
      await disk.heal();
      await eventually(() => search('hit'), isWhole(status === 204 ? RECORDS - 1 : RECORDS));
    });

    it("under a list's store closes that list, which works again without a restart, and after one", async () => {
      const write = () =>
        service.client.post('/search-result/default/hit', { name: 'new', fields: { title: 'common' } });
      await disk.fail(['read'], 'EIO', `${hit}/store/data.mdb`);
      await disk.forget();
      await eventually(
        () => service.client.get('/search/default/hit/1', { query: 'common', size: 10 }),
        (answer) => codeOf(answer) === 'list-damaged',
      );
      const { unavailable } = (await service.client.get('/list/default')).body as { readonly unavailable: unknown };
      expect(unavailable).toMatchObject([
        { name: 'hit', code: 'list-damaged', detail: expect.stringContaining('by itself') },
      ]);
      expect(await search('other')).toMatchObject({ status: 200, body: { total_count: RECORDS } });
      expect(await write()).toMatchObject({ status: 503 });
      await disk.heal();
      await eventually(
        () => service.client.get('/search/default/hit/1', { query: 'common', size: 10 }),
        isWhole(RECORDS),
      );
      expect(await write()).toMatchObject({ status: 201 });
      await eventually(() => search('hit'), isWhole(RECORDS + 1));
      expect(await service.control().send('POST', '/list/default/hit/check', undefined)).toMatchObject({
        status: 200,
        body: { problems: [] },
      });
      expect(await service.stop()).toBe(0);
      await service.start();
      await eventually(() => search('hit'), isWhole(RECORDS + 1));
    });

    it("under a list's store several times gives the list back each time", async () => {
      for (let time = 0; time < 3; ++time) {
        await disk.fail(['read'], 'EIO', `${hit}/store/data.mdb`);
        await disk.forget();
        await eventually(
          () => service.client.get('/search/default/hit/1', { query: `common word${time}`, size: 10 }),
          (answer) => codeOf(answer) === 'list-damaged',
        );
        await disk.heal();
        await eventually(
          () => service.client.get('/search/default/hit/1', { query: 'common', size: 100 }),
          isWhole(RECORDS),
        );
      }
    });

    it('under the catalogue does not affect searches, refuses changes, and accepts them again without a restart', async () => {
      const isReady = (body: unknown) =>
        eventually(
          () => service.client.get('/ready'),
          (answer) => isDeepStrictEqual(answer.body, body),
        );
      await disk.fail(['read'], 'EIO', '/system/data.mdb');
      await disk.forget();
      for (const name of ['one', 'two']) {
        const answer = await service.client.post('/list/default', { name });
        expect(answer).toMatchObject({
          status: 503,
          body: { code: 'storage-damaged', detail: expect.stringContaining('tried again by itself') },
        });
      }
      await isReady({ status: 'ready', unreadable: ['system'] });
      for (const list of ['hit', 'other'])
        expect(await search(list)).toMatchObject({ status: 200, body: { total_count: RECORDS } });
      await disk.heal();
      await isReady({ status: 'ready' });
      for (const name of ['one', 'two'])
        expect((await service.client.post('/list/default', { name })).status).toBe(201);
      expect(service.output).toContain('A database can be read again');
      await service.stop();
      await service.start();
      for (const list of ['hit', 'other']) await eventually(() => search(list), isWhole(RECORDS));
      const { lists } = (await service.client.get('/list/default')).body as {
        readonly lists: readonly { name: string }[];
      };
      expect(lists.map(({ name }) => name).sort()).toEqual(['hit', 'one', 'other', 'two']);
    });
  },
);
