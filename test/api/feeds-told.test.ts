/**
 * Tests what is reported of the syncs of a feed: events of what changed and of nothing else, metrics, and a line in
 * the log.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FeedService, ok } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { MadeSite } from '../support/feeds/made-site.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const RECORD_EVENTS = ['created', 'updated', 'deleted', 'bulk-created'].map((what) => `searchresult.${what}`);

let feeds: FeedService;
let site: MadeSite;
let receiver: WebhookReceiver;
let items: { id: string; title: string; tags: string[] }[] = [];

beforeAll(async () => {
  [feeds, site, receiver] = await Promise.all([FeedService.start(), MadeSite.start(), WebhookReceiver.start()]);
  site.pages.set('/items', (_asked, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: items })),
  );
});
afterAll(async () => {
  await feeds.close();
  await Promise.all([site.close(), receiver.close()]);
});

const lines = (text: string) => feeds.service.output.split('\n').filter((line) => line.includes(text));

it('A sync reports only what changed in events, and each run in the metrics and the log', async () => {
  items = Array.from({ length: 50 }, (_, number) => ({ id: `r${number}`, title: `Title ${number}`, tags: ['a', 'b'] }));
  const settings = { url: site.url('/items'), records: 'data', name: 'id' };
  const feed = await FollowedFeed.connect(feeds, 'items', { provider: 'api', settings });
  expect((await feed.now()).records).toHaveLength(50);
  ok(await feeds.client.post('/webhook', { url: receiver.url(), events: RECORD_EVENTS }));
  const runs = await feeds.service.metric('gannet_feed_runs_total{provider="api",outcome="synced"}');
  const told = lines('A feed was synced').length;

  // Nothing has changed: neither the sync nor the import reports records.
  await feed.sync();
  // A field of one record has changed, one record is deleted, and one is new.
  items = items.filter(({ id }) => id !== 'r7');
  Object.assign(items[3] ?? {}, { tags: ['a', 'c'] });
  items.push({ id: 'new', title: 'New', tags: [] });
  await feed.sync();
  // As for a bulk call, one event reports what was added and changed, and one each deleted record.
  const events = await receiver.events(2);
  expect(events.map(([type, { list, data }]) => [type, list, data['name'] ?? data]).sort()).toEqual([
    ['searchresult.bulk-created', 'items', { count: 2, created: 1, updated: 1 }],
    ['searchresult.deleted', 'items', 'r7'],
  ]);
  await feed.sync();
  // Any event still to come would have come before the event of this write.
  ok(await feeds.client.post('/search-result/default/items', { name: 'last', fields: { title: 'Last' } }));
  expect((await receiver.events(3)).at(-1)?.[1].data['name']).toBe('last');
  expect(receiver.received).toHaveLength(3);

  // A run is counted after it is shown as finished.
  await expect
    .poll(() => feeds.service.metric('gannet_feed_runs_total{provider="api",outcome="synced"}'))
    .toBe(runs + 3);
  await eventually(
    () => Promise.resolve(lines('A feed was synced').length),
    (count) => count === told + 3,
  );
});
