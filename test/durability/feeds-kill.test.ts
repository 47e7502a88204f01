/**
 * Kills the service (SIGKILL) at random moments between a source, its file and the list that follows it. The file is
 * complete each time, and after the next sync list and file have what the source has: nothing is missing or there
 * twice, and unchanged records were not written. `GANNET_FEED_KILLS` (default 4) from `GANNET_KILL_SEED`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSyncFile } from '../../src/feeds/file/sync-file.js';
import { FeedService, ok } from '../support/feeds/feed-service.js';
import { MadeSite } from '../support/feeds/made-site.js';
import { SeededRandom } from '../support/random.js';

const KILLS = Number(process.env['GANNET_FEED_KILLS'] ?? 4);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
const RECORDS = 900;
/**
 * The time from calling the source to the end of the import on an idle machine; a slow one is killed earlier in the
 * process.
 */
const KILL_AFTER_MS_MAX = 400;

const random = new SeededRandom(SEED);
const items = new Map<string, string>();
let feeds: FeedService;
let site: MadeSite;

beforeAll(async () => {
  site = await MadeSite.start();
  site.pages.set('/items', (_asked, response) => {
    const data = [...items].map(([id, title]) => ({ id, title }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  });
  for (let number = 0; number < RECORDS; number += 1) items.set(`r${number}`, `Title ${number}`);
  feeds = await FeedService.start({ env: { GANNET_LOG_LEVEL: 'warn' } });
});
afterAll(async () => {
  await feeds.service.stop('SIGKILL');
  await feeds.close();
  await site.close();
});

/** Deletes, changes and adds some items. */
function change(round: number): void {
  for (const id of [...items.keys()]) {
    const lot = random.below(30);
    if (lot === 0) items.delete(id);
    if (lot === 1) items.set(id, `Changed in ${round}`);
  }
  for (let number = random.below(20); number > 0 && items.size < 990; number -= 1)
    items.set(`n${round}-${number}`, `New in ${round}`);
}

async function fileRecords(): Promise<Map<string, string>> {
  const { status, text } = await feeds.file('items');
  expect(status).toBe(200);
  const bytes = async function* () {
    yield await Promise.resolve(Buffer.from(text));
  };
  const found = new Map<string, string>();
  for await (const { name, line } of (await readSyncFile(bytes())).lines)
    found.set(name, (JSON.parse(line) as { readonly fields: { readonly title: string } }).fields.title);
  return found;
}

const sorted = (entries: Iterable<[string, string]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));

it('A sync that was asked for and killed comes after the next start, and not only at its usual time', async () => {
  let isHeld = false;
  let ids = ['a'];
  let isAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  site.pages.set('/asked', (_asked, response) => {
    if (isHeld) {
      isAsked();
      return;
    }
    const data = ids.map((id) => ({ id, title: `Title of ${id}` }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  });
  const settings = { url: site.url('/asked'), records: 'data', name: 'id' };
  ok(await feeds.client.post('/feed/default/connect', { name: 'asked', provider: 'api', settings }));
  await feeds.settled('asked');
  [isHeld, ids] = [true, ['a', 'b']];
  ok(await feeds.client.send('POST', '/feed/default/asked/sync'));
  await asked;
  await feeds.service.stop('SIGKILL');
  isHeld = false;
  await feeds.service.start();
  await expect.poll(async () => (await feeds.feed('asked')).record_count, { timeout: 60_000 }).toBe(2);
});

it(
  `List and file have exactly what the source has, after each of ${KILLS} kills`,
  async () => {
    const settings = { url: site.url('/items'), records: 'data', name: 'id' };
    ok(await feeds.client.post('/feed/default/connect', { name: 'items', provider: 'api', settings }));
    await feeds.list('items-list');
    ok(await feeds.client.post('/list/default/items-list/feed', { feed: 'items' }));
    await feeds.holds('items-list', [...items.keys()]);
    const killedAt = { 'before the file': 0, 'behind the file': 0 };
    for (let round = 1; round <= KILLS; round += 1) {
      const before = new Map((await feeds.records('items-list')).map((record) => [record.name, record]));
      const titles = new Map(items);
      change(round);
      ok(await feeds.client.send('POST', '/feed/default/items/sync'));
      await new Promise((resolve) => setTimeout(resolve, random.below(KILL_AFTER_MS_MAX)));
      await feeds.service.stop('SIGKILL');
      await feeds.service.start();
      // It is either the file from before or the one from after.
      const found = sorted(await fileRecords());
      expect([sorted(titles), sorted(items)]).toContainEqual(found);
      killedAt[JSON.stringify(found) === JSON.stringify(sorted(items)) ? 'behind the file' : 'before the file'] += 1;
      // The run that was killed begins again, so the feed may be read at this moment.
      expect([202, 409]).toContain((await feeds.client.send('POST', '/feed/default/items/sync')).status);
      await expect.poll(async () => sorted(await fileRecords()), { timeout: 60_000 }).toEqual(sorted(items));
      const titlesNow = async () =>
        sorted((await feeds.records('items-list')).map(({ name, fields }) => [name, String(fields['title'])]));
      await expect.poll(titlesNow, { timeout: 60_000 }).toEqual(sorted(items));
      expect(await feeds.settled('items')).toMatchObject({ status: 'Synced' });
      const after = await feeds.records('items-list');
      expect(sorted(after.map(({ name, fields }) => [name, String(fields['title'])]))).toEqual(sorted(items));
      for (const record of after) {
        const known = before.get(record.name);
        if (known !== undefined && known.fields['title'] === record.fields['title']) expect(record).toEqual(known);
        if (known !== undefined) expect(record.id).toBe(known.id);
      }
    }
    console.log(
      `${KILLS} kills from seed ${SEED}: ${JSON.stringify(killedAt)}, each with a whole file and a list like it`,
    );
  },
  480_000 + KILLS * 60_000,
);
