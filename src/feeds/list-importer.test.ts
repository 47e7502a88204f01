import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pageOf } from '../../test/support/list-reading.js';
import { listFixtures, type ListFixtures } from '../../test/support/lists.js';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import type { ListIndex } from '../index/index.js';
import type { MediaStore, MediaStores } from '../media/index.js';
import {
  GiveWay,
  openEnvironment,
  SearchActivity,
  ServiceError,
  systemClock,
  type LmdbEnvironment,
} from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { createFeedMetrics } from './feed-metrics.js';
import { headerLine, type FieldDescriptions } from './file/sync-file.js';
import { ListImporter } from './list-importer.js';
import { labelOf } from './list-sources.js';
import { SourceStore } from './source-store.js';
import type { SourceRow } from './types.js';
import { makeAccounts } from '../../test/support/made-accounts.js';

const FIELDS = { searchable_fields: [{ name: 'title', weight: 1 }], facets: [], resources: [] };
const PENDING = {
  searchable_fields: [],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'pending',
} as const;

let folder: string;
let environment: LmdbEnvironment;
let lists: ListFixtures;
let index: ListIndex;
let sources: SourceStore;
let importer: ListImporter;
let timers: SimulatedTimers;
let activity: SearchActivity;
let content: string | undefined;
let opening: () => Promise<ListIndex>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-importer-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  await makeAccounts(environment, 'test', 'other');
  lists = await listFixtures();
  index = await lists.add('films', PENDING, []);
  opening = () => Promise.resolve(index);
  content = undefined;
  timers = new SimulatedTimers();
  activity = new SearchActivity();
  sources = new SourceStore(environment, systemClock);
  const file = () => ({ path: '', bytes: 0, contentType: '', modifiedUtc: '', etag: content ?? '' });
  const store: Pick<MediaStore, 'stat' | 'open'> = {
    stat: () => Promise.resolve(content === undefined ? undefined : file()),
    open: () =>
      Promise.resolve({
        file: file(),
        async *pieces() {
          // The parts end within lines.
          for (const half of [content?.slice(0, 40), content?.slice(40)])
            yield await Promise.resolve(Buffer.from(half ?? ''));
        },
        close: () => Promise.resolve(),
      }),
  };
  importer = new ListImporter({
    sources,
    media: { open: () => store } as unknown as MediaStores,
    indexOf: () => opening(),
    labelOf,
    parallelMax: 1,
    timers,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    metrics: createFeedMetrics(createMetrics()),
    giveWay: new GiveWay(activity.shared),
  });
  await sources.create({
    list_id: 'id',
    account: 'test',
    list: 'films',
    feed: 'a-feed',
    media_store: 'default',
    path: 'feeds/films.sync',
    keep_in_sync: true,
  });
});
afterEach(async () => {
  await importer.stop();
  await lists.close();
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(
  titles: Readonly<Record<string, string>>,
  count = Object.keys(titles).length,
  fields: FieldDescriptions = FIELDS,
): string {
  const lines = Object.entries(titles).map(([name, title]) => JSON.stringify({ name, fields: { title } }));
  const header = headerLine({ feed: 'films', provider: 'api', fields, record_count: count });
  return `${[header, ...lines].join('\n')}\n`;
}

const names = async () => (await pageOf(index, 0, 100)).records.map(({ name }) => name);

describe('ListImporter', () => {
  it('ends at once if its list is deleted before it has the fields of the file', async () => {
    content = fileOf({ a: 'One' });
    let begun = 0;
    let tell = () => {};
    const isAsked = new Promise<void>((resolve) => (tell = resolve));
    // A list that is being deleted: its next version never comes.
    const going: Partial<ListIndex> = {
      versions: () => index.versions(),
      currentVersion: index.currentVersion,
      changeDefinition: () => {
        tell();
        return Promise.resolve(index.currentVersion + 1);
      },
      startSync: () => {
        begun += 1;
        throw new Error('There is no such list any more');
      },
    };
    opening = () => Promise.resolve(going as ListIndex);
    const run = importer.run('id');
    await isAsked;
    await importer.cancel('id');
    await run;
    // Without the cancellation it would have begun after a minute.
    expect([begun, sources.of('id')?.error]).toEqual([0, null]);
  });

  it('waits for the file of a feed, then gives the list its fields and records', async () => {
    await importer.run('id');
    expect(sources.of('id')).toMatchObject({ last_run: null, error: null });
    content = fileOf({ a: 'One', b: 'Two' });
    await importer.run('id');
    expect(sources.of('id')).toMatchObject({ last_run: { added: 2, unchanged: 0 }, applied_etag: content });
    expect(index.versions().at(-1)?.definition.searchable_fields).toEqual(FIELDS.searchable_fields);
    expect((await pageOf(index, 0, 1)).records[0]?.source).toBe('feed:films');
  });

  it('gives the list its fields when the feed first has some, also if an earlier file had none', async () => {
    const none = { searchable_fields: [], facets: [], resources: [] };
    content = fileOf({}, 0, none);
    await importer.run('id');
    expect([sources.of('id')?.error, index.currentVersion]).toEqual([null, 1]);
    content = fileOf({ a: 'One' });
    await importer.run('id');
    expect(index.versions().at(-1)?.definition.searchable_fields).toEqual(FIELDS.searchable_fields);
  });

  it('leaves the list its language, by which words are found in other forms', async () => {
    index = await lists.add('filme', { ...PENDING, language: 'de' }, []);
    content = fileOf({ a: 'One' });
    await importer.run('id');
    expect(index.versions().at(-1)?.definition).toEqual({
      ...{ ...FIELDS, location_field: null, inferred: 'no' },
      language: 'de',
    });
  });

  it('gives fields to a list that took over none in an earlier release', async () => {
    await index.changeDefinition({ ...PENDING, inferred: 'no' });
    await expect.poll(() => index.currentVersion).toBe(2);
    content = fileOf({ a: 'One' });
    await importer.run('id');
    expect(index.versions().at(-1)?.definition.searchable_fields).toEqual(FIELDS.searchable_fields);
  });

  it('says why it does not take over fields that no list can have', async () => {
    const searchable_fields = Array.from({ length: 300 }, (_, number) => ({ name: `f${number}`, weight: 1 }));
    content = fileOf({ a: 'One' }, 1, { ...FIELDS, searchable_fields });
    await importer.run('id');
    expect(sources.of('id')?.error?.message).toBe('A list can have at most 256 fields.');
    content = fileOf({ a: 'One' }, 1, { ...FIELDS, facets: [{ name: 'name', type: 'number', cardinality: 'Single' }] });
    await importer.run('id');
    expect(sources.of('id')?.error?.message).toMatch(/^'name' is the name of the record/);
    expect(index.currentVersion).toBe(1);
  });

  it('reads nothing if neither file nor list has changed', async () => {
    content = fileOf({ a: 'One' });
    await importer.run('id');
    const before = sources.of('id');
    await importer.run('id');
    expect(sources.of('id')).toBe(before);
    await importer.run('id', { isForced: true });
    expect(sources.of('id')?.last_run).toMatchObject({ added: 0, unchanged: 1 });
  });

  it('keeps nothing of a list that no longer imports a file', async () => {
    content = fileOf({ a: 'One' });
    await importer.run('id');
    const { applied_etag, created_utc: _, ...row } = sources.of('id') as SourceRow;
    await sources.remove(['id']);
    await importer.forget('id');
    await sources.create(row);
    await sources.change('id', () => ({ applied_etag }));
    await importer.run('id');
    // What was known of its state would have been enough to read nothing.
    expect(sources.of('id')?.last_run).toMatchObject({ added: 0, unchanged: 1 });
  });

  it('opens a list at a start only if its file differs from the applied one', async () => {
    content = fileOf({ a: 'One' });
    await importer.run('id');
    let opened = 0;
    opening = () => {
      opened += 1;
      return Promise.resolve(index);
    };
    await importer.run('id', { isStart: true });
    expect(opened).toBe(0);
    content = fileOf({ a: 'One', b: 'Two' });
    await importer.run('id', { isStart: true });
    expect([opened, await names()]).toEqual([1, ['a', 'b']]);
    await sources.change('id', () => ({ error: { message: 'The last one failed.', at: '' } }));
    await importer.run('id', { isStart: true });
    expect([opened, sources.of('id')?.error]).toEqual([2, null]);
  });

  it('runs the waiting imports a few at a time, alternating between accounts, and forgets none', async () => {
    content = fileOf({ a: 'One' });
    const lists = Array.from({ length: 200 }, (_, number) => `list-${number}`);
    for (const list of lists)
      await sources.create({ ...(sources.of('id') as SourceRow), list_id: list, list, feed: null });
    await sources.create({ ...(sources.of('id') as SourceRow), list_id: 'of-other', account: 'other', feed: null });
    const order: string[] = [];
    let together = 0;
    let most = 0;
    opening = async () => {
      together += 1;
      most = Math.max(most, together);
      await Promise.resolve();
      together -= 1;
      return index;
    };
    const ended = (list: string) => importer.run(list).then(() => order.push(list));
    await Promise.all([...lists, 'of-other'].map(ended));
    expect(most).toBe(1);
    expect(order.indexOf('of-other')).toBeLessThan(4);
    expect(lists.filter((list) => sources.of(list)?.applied_etag !== content)).toEqual([]);
  });

  it.each([
    ['is cut', () => fileOf({ a: 'One', b: 'Two' }, 3), /says that it has 3/],
    ['ends within a line', () => fileOf({ a: 'One', b: 'Two' }).slice(0, -5), /says that it has 2/],
    ['is another', () => '{"name":"x"}\n', /does not begin/],
    ['is empty', () => '', /does not begin/],
  ])('fails if the file %s, and removes nothing', async (_, made, why) => {
    content = fileOf({ a: 'One', b: 'Two', c: 'Three' });
    await importer.run('id');
    content = made();
    await importer.run('id');
    expect(sources.of('id')?.error?.message).toMatch(why);
    expect(await names()).toEqual(['a', 'b', 'c']);
    content = fileOf({ a: 'One' });
    await importer.run('id');
    expect(sources.of('id')).toMatchObject({ error: null, last_run: { removed: 2 } });
  });

  it('retries by itself if the list is being rebuilt', async () => {
    content = fileOf({ a: 'One' });
    opening = () => Promise.reject(new ServiceError('not-ready', 'The index is being rebuilt.'));
    await importer.run('id');
    expect(sources.of('id')).toMatchObject({ error: null, last_run: null });
    opening = () => Promise.resolve(index);
    await timers.pass(6000, () => Promise.resolve());
    await importer.run('id');
    expect(await names()).toEqual(['a']);
  });

  it('continues in small commits during searches, and loses nothing', async () => {
    const text = 'x'.repeat(2000);
    const titles = Object.fromEntries(Array.from({ length: 1000 }, (_, number) => [`r${number}`, `${number} ${text}`]));
    content = fileOf(titles);
    const before = index.sequence(index.currentVersion) ?? 0;
    activity.begin();
    await importer.run('id');
    activity.end();
    expect(sources.of('id')).toMatchObject({ error: null, last_run: { added: 1000 } });
    // These are 2 MB, of which no commit has more than 512 KiB and a part.
    expect((index.sequence(index.currentVersion) ?? 0) - before).toBeGreaterThanOrEqual(4);
  });

  it('can be cancelled while it gives way to searches', async () => {
    content = fileOf({ a: 'One', b: 'Two' });
    activity.begin();
    const running = importer.run('id');
    await importer.cancel('id');
    await running;
    expect(await names()).toEqual([]);
    activity.end();
  });

  it('runs once more for a request that came during a run', async () => {
    content = fileOf({ a: 'One' });
    const running = importer.run('id');
    expect(importer.isRunning('id')).toBe(true);
    content = fileOf({ a: 'One', b: 'Two' });
    await Promise.all([running, importer.run('id')]);
    expect(await names()).toEqual(['a', 'b']);
  });
});
