/** Tests all providers of feeds with the same suite, in the real service, with a list that follows each. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateFault } from '../support/certificate.js';
import { FeedService, ok } from '../support/feeds/feed-service.js';
import {
  ANSWER_BYTES_MAX,
  followedSource,
  itIsAProvider,
  namesOf,
  RECORDS_MAX,
} from '../support/feeds/provider-conformance.js';
import { SCRIPTED_SOURCES, type ScriptedSource } from '../support/feeds/scripted-sources.js';
import { describeWhere } from '../support/skip.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { PROVIDERS, type ProviderName } from '../../src/feeds/providers/provider-settings.js';

const fault = certificateFault();
const isHere = (provider: ProviderName) => provider !== 'email' || fault === undefined;
const sources = new Map<ProviderName, ScriptedSource>();
let feeds: FeedService;
let receiver: WebhookReceiver;

beforeAll(async () => {
  for (const provider of PROVIDERS.filter(isHere)) sources.set(provider, await SCRIPTED_SOURCES[provider]());
  receiver = await WebhookReceiver.start();
  const env = {
    GANNET_FEEDS_RECORDS_MAX: String(RECORDS_MAX),
    GANNET_FEEDS_ANSWER_BYTES_MAX: String(ANSWER_BYTES_MAX),
    GANNET_FEEDS_PARALLEL: '8',
  };
  const made = [...sources.values()];
  feeds = await FeedService.start({ env: Object.assign({}, env, ...made.map((source) => source.env)) as typeof env });
  for (const { store } of made) if (store !== undefined) ok(await feeds.control.post('/media-store/default', store));
  const events = ['created', 'updated', 'deleted', 'bulk-created'].map((what) => `searchresult.${what}`);
  ok(await feeds.client.post('/webhook', { url: receiver.url(), events }));
});
afterAll(async () => {
  await feeds.close();
  await Promise.all([...sources.values(), receiver].map((each) => each.close()));
});

function sourceOf(provider: ProviderName): ScriptedSource {
  const source = sources.get(provider);
  if (source === undefined) throw new Error(`${provider} was not started`);
  return source;
}

describe.each(PROVIDERS)('provider %s', (provider) => {
  describeWhere(isHere(provider), fault ?? '')('as all are', () => {
    itIsAProvider({ source: () => sourceOf(provider), feeds: () => feeds, receiver: () => receiver });
  });
});

it('Lists keep their records if the service stops in the middle of all syncs, and the syncs continue after the start', async () => {
  const all = [...sources.values()];
  const followed = await Promise.all(all.map((source) => followedSource(feeds, source)));
  const before = await Promise.all(followed.map((feed) => feed.now()));
  const asked = all.map((source) => source.hold());
  for (const source of all) source.has({ a: 'Auk, anew', d: 'Diver' });
  for (const { name } of followed) ok(await feeds.client.send('POST', `/feed/default/${name}/sync`));
  await Promise.all(asked);
  expect(await feeds.service.stop()).toBe(0);
  await feeds.service.start();
  for (const [place, feed] of followed.entries()) expect((await feed.now()).records).toEqual(before[place]?.records);
  for (const source of all) source.release();
  for (const [place, source] of all.entries()) {
    const { names, feed } = (await followed[place]?.sync()) ?? {};
    expect(names).toEqual(namesOf(source, source.titles));
    expect(feed).toMatchObject({ status: 'Synced', record_count: names?.length });
  }
});
