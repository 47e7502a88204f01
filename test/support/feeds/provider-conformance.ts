/** Conformance tests of every provider of feeds: what file, list and state contain after each sync. */
import { expect, it } from 'vitest';
import type { WebhookReceiver } from '../webhook-receiver.js';
import { eventually } from '../eventually.js';
import { ok, type FeedService } from './feed-service.js';
import { FollowedFeed } from './followed-feed.js';
import { FAULTS, type ScriptedSource, type Titles } from './scripted-sources.js';

export interface ConformingProvider {
  readonly source: () => ScriptedSource;
  /** Limited to `RECORDS_MAX` records per feed. */
  readonly feeds: () => FeedService;
  /** Receives all events of records. */
  readonly receiver: () => WebhookReceiver;
}

export const RECORDS_MAX = 30;
export const ANSWER_BYTES_MAX = 65_536;
const THREE: Titles = { a: 'Auk', b: 'Booby', c: 'Cormorant' };

let feedsMade = 0;

/** Creates a feed of the source and a list that follows it, and waits until both have these records. */
export async function followedSource(
  feeds: FeedService,
  source: ScriptedSource,
  titles = THREE,
): Promise<FollowedFeed> {
  feedsMade += 1;
  source.fails(undefined);
  source.has(titles);
  const { provider, settings, secret } = source;
  const options = { provider, settings, ...(secret === undefined ? {} : { secret }) };
  const feed = await FollowedFeed.connect(feeds, `f${feedsMade}-${provider}`, options);
  expect((await feed.now()).names).toEqual(namesOf(source, titles));
  return feed;
}

export function namesOf(source: ScriptedSource, titles: Titles): string[] {
  return [...source.always, ...Object.keys(titles).map((name) => source.nameOf(name))].sort();
}

export function itIsAProvider({ source, feeds, receiver }: ConformingProvider): void {
  const made = () => followedSource(feeds(), source());
  const count = () => namesOf(source(), THREE).length;
  /** Events of the list, as `[type, data]`. */
  const eventsOf = (list: string) =>
    receiver()
      .received.filter(({ body }) => body.list === list)
      .map(({ headers, body }): [string, unknown] => [String(headers['x-service-event']), body.data]);
  const written = async ({ name }: FollowedFeed) => {
    const { headers, text } = await feeds().file(name);
    return { text, headers: [headers.etag, headers['last-modified']], records: await feeds().records(name) };
  };

  it('fills an empty list, which takes over the fields of the feed', async () => {
    const feed = await made();
    const shown = await feeds().feed(feed.name);
    expect(shown).toMatchObject({ status: 'Synced', error: null, record_count: count() });
    expect(shown.last_run).toMatchObject({ added: count(), changed: 0, removed: 0, unchanged: 0 });
    const list = ok(await feeds().client.get(`/list/default/${feed.name}`)) as Readonly<
      Record<'searchable_fields' | 'facets' | 'resources', readonly { readonly name: string }[]>
    >;
    const named = (kind: keyof typeof list) => list[kind].map(({ name }) => name);
    const { searchable, facets, resources } = source().fields;
    expect(named('searchable_fields')).toEqual(expect.arrayContaining([...searchable]));
    expect(named('facets')).toEqual(expect.arrayContaining([...facets]));
    expect(named('resources')).toEqual(expect.arrayContaining([...resources]));
    const { records } = await feed.now();
    for (const [name, title] of Object.entries(THREE)) {
      const record = records.find((each) => each.name === source().nameOf(name));
      expect(String(record?.fields[source().titleField])).toBe(
        source().titleField === 'bytes' ? `${title.length}` : title,
      );
    }
  });

  it('writes nothing if nothing has changed, and one update if one record has', async () => {
    const feed = await made();
    const before = await written(feed);
    const { feed: same } = await feed.sync();
    expect(same.last_run).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: count() });
    expect(await written(feed)).toEqual(before);
    source().has({ ...THREE, b: 'Brown booby' });
    const { feed: changed } = await feed.sync();
    expect(changed.last_run).toMatchObject({ added: 0, changed: 1, removed: 0, unchanged: count() - 1 });
    const after = await written(feed);
    const isOther = after.records.filter(({ name, modified_utc: at }) =>
      before.records.some((each) => each.name === name && each.modified_utc !== at),
    );
    expect(isOther.map(({ name }) => name)).toEqual([source().nameOf('b')]);
    const events = await eventually(
      () => Promise.resolve(eventsOf(feed.name)),
      ({ length }) => length >= 2,
    );
    // Any event of the unchanged run would have come before the second one.
    expect(events).toEqual([
      ['searchresult.bulk-created', { count: count(), created: count(), updated: 0 }],
      ['searchresult.bulk-created', { count: 1, created: 0, updated: 1 }],
    ]);
  });

  it('removes deleted records, and no others', async () => {
    const feed = await made();
    source().has({ a: 'Auk', c: 'Cormorant', d: 'Diver' });
    const { names, feed: shown } = await feed.sync();
    expect(names).toEqual(namesOf(source(), source().titles));
    expect(shown.last_run).toMatchObject({ added: 1, removed: 1 });
  });

  it.each(FAULTS)(
    'keeps all records and reports the reason if its source %s, until the source works again',
    async (fault) => {
      const feed = await made();
      const { records } = await feed.now();
      source().fails(fault);
      const failed = await feed.sync();
      expect(failed.records).toEqual(records);
      const { status, error, last_run: run } = failed.feed;
      // A run that read a part reports what it could not read.
      const told = status === 'Failed' ? error?.message : run?.skipped.map(({ why }) => why).join(' ');
      expect(told).toMatch(/\w+ \w.{8,}/);
      source().fails(undefined);
      source().has({ a: 'Auk', c: 'Cormorant' });
      const well = await feed.sync();
      expect(well.names).toEqual(namesOf(source(), source().titles));
      expect(well.feed).toMatchObject({ status: 'Synced', error: null });
    },
  );

  it('keeps all records if there are more than a feed may have, and says so', async () => {
    const feed = await made();
    const before = (await feed.now()).names;
    source().has(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`n${n + 10}`, `Title ${n}`])));
    const { names, feed: shown } = await feed.sync();
    const { beyondLimit } = source();
    if (beyondLimit === 'is read') expect(names).toEqual(namesOf(source(), source().titles));
    else expect(names).toEqual(expect.arrayContaining([...before]));
    if (beyondLimit === 'fails') expect(shown.error?.message).toContain(String(ANSWER_BYTES_MAX));
    if (beyondLimit !== 'is cut') return;
    expect(shown.record_count).toBeGreaterThan(before.length);
    expect(shown.record_count).toBeLessThanOrEqual(RECORDS_MAX + before.length);
    expect(JSON.stringify(shown.last_run)).toContain(`at most ${RECORDS_MAX} `);
  });

  it('shows its secret to nobody, even if the server repeats it', async () => {
    const feed = await made();
    const { secret } = source();
    const shown = [JSON.stringify(receiver().received)];
    for (const fault of ['refuses the sign-in', 'answers 500'] as const) {
      source().fails(fault);
      await feed.sync();
      const paths = [`/feed/default/${feed.name}`, '/feed/default', `/list/default/${feed.name}/source`];
      for (const path of paths) shown.push((await feeds().client.get(path)).text);
    }
    shown.push((await feeds().file(feed.name)).text, feeds().service.output);
    expect((await feeds().feed(feed.name)).has_secret).toBe(secret !== undefined);
    for (const text of shown) expect(text).not.toMatch(/tok3n-|secr3t-/);
  });
}
