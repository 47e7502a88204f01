/** Tests sources over http://, which an operator can allow. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FeedService, ok, siteOf } from '../support/feeds/feed-service.js';
import { namesEnvironment } from '../support/feeds/made-names.js';
import type { MadeSite } from '../support/feeds/made-site.js';

const folder = mkdtempSync(join(tmpdir(), 'gannet-names-'));
const namesFile = join(folder, 'names.json');
let site: MadeSite;
let plain: FeedService;
let strict: FeedService;
let port = '';
beforeAll(async () => {
  site = await siteOf('a', 'b');
  ({ port } = new URL(site.url('/')));
  writeFileSync(namesFile, JSON.stringify({ 'birds.example.com': ['127.0.0.1'], 'moved.example.com': ['10.0.0.1'] }));
  const env = namesEnvironment(namesFile);
  plain = await FeedService.start({ env: { ...env, GANNET_FEEDS_PLAIN_HTTP: 'true' } });
  strict = await FeedService.start({ env });
});
afterAll(async () => {
  await Promise.all([plain.close(), strict.close(), site.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const connect = (feeds: FeedService, provider: string, settings: object, secret?: string) =>
  feeds.control.post('/feed/default/connect', {
    name: `${provider}-feed`,
    provider,
    settings,
    ...(secret === undefined ? {} : { secret }),
  });

it('A website over http:// is read only if the operator allows it, and never at a private address', async () => {
  const settings = { start_urls: [`http://birds.example.com:${port}/`] };
  expect(await connect(strict, 'website', settings)).toMatchObject({ status: 400 });
  ok(await connect(plain, 'website', settings));
  expect(await plain.settled('website-feed')).toMatchObject({ status: 'Synced', record_count: 3 });
  const moved = await connect(plain, 'website', { start_urls: [`http://moved.example.com:${port}/`] });
  expect(moved.status).toBeGreaterThanOrEqual(400);
  const rss = await connect(plain, 'rss', { url: `http://moved.example.com:${port}/` });
  expect(rss).toMatchObject({ status: 422, body: { code: 'source-unusable' } });
  expect(rss.text).toContain('cannot be called');
});

it('A source over http:// is never sent a secret', async () => {
  const url = `http://birds.example.com:${port}/items`;
  const settings = { url, records: 'data', name: 'id', auth_header: { name: 'X-Token' } };
  const before = site.server.asked.length;
  const answer = await connect(plain, 'api', settings, 't0p-s3cret');
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.text).toContain('https://');
  expect(site.server.asked.length).toBe(before);
});
