/** Tests the commands of feeds: `gannet feed sync` waits for the end of the sync, the others do what their calls do. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gannet, gannetGiven } from '../support/cli.js';
import { fill, FeedService, held, ok, siteOf } from '../support/feeds/feed-service.js';
import type { MadeSite } from '../support/feeds/made-site.js';

let feeds: FeedService;
let site: MadeSite;
beforeAll(async () => {
  feeds = await FeedService.start({ env: { GANNET_MEDIA_FOLDERS: tmpdir() } });
  site = await siteOf('a', 'b');
  await feeds.connect('docs', site);
  await feeds.settled('docs');
});
afterAll(async () => {
  await feeds.close();
  await site.close();
});

const run = (...words: readonly string[]) => gannet(feeds.service.dataDir, 'feed', ...words);

it('gannet feed sync reports its progress and how it ended', async () => {
  fill(site, ['a', 'c']);
  const { asked, release } = held(site, '/c');
  const running = run('sync', 'docs');
  await asked;
  expect((await feeds.feed('docs')).status).toBe('Syncing');
  release();
  const { status, output } = await running;
  expect([status, output]).toEqual([0, expect.stringContaining('1 added, 0 changed, 1 removed') as string]);
  expect(output).toMatch(/^(?:\d+ done, .*|Waiting in the queue)\n/);
  const json = await run('sync', 'docs', '--json');
  expect([json.status, (JSON.parse(json.output) as { readonly status: string }).status]).toEqual([0, 'Synced']);
});

it('gannet feed sync fails if the sync fails, and does not wait with --no-wait', async () => {
  const pages = [...site.pages];
  for (const [path] of pages) site.pages.set(path, (_asked, response) => response.writeHead(500).end());
  const { status, output } = await run('sync', 'docs');
  expect([status, output]).toEqual([1, expect.stringContaining('Failed') as string]);
  for (const [path, page] of pages) site.pages.set(path, page);
  const { last_checked: before } = await feeds.feed('docs');
  const { asked, release } = held(site, '/a');
  expect((await run('sync', 'docs', '--no-wait')).status).toBe(0);
  await asked;
  release();
  expect((await feeds.settled('docs', before)).status).toBe('Synced');
});

it('gannet feed sync is carried out at the next start if no service runs', async () => {
  const { last_checked: before } = await feeds.settled('docs');
  await feeds.service.stop();
  fill(site, ['a', 'c', 'd']);
  expect((await run('sync', 'docs')).status).toBe(0);
  await feeds.service.start();
  expect(await feeds.settled('docs', before)).toMatchObject({ status: 'Synced', record_count: 4 });
});

it('gannet feed connect does not wait for a secret, and reads one from a line of standard input with --secret-stdin', async () => {
  const settings = { url: site.url('/items'), records: 'items', name: 'id' };
  const wordsOf = (given: object) => ['--provider', 'api', '--settings', JSON.stringify(given), '--json'];
  const authorizations: unknown[] = [];
  site.pages.set('/items', ({ headers }, response) => {
    authorizations.push(headers['authorization']);
    response.setHeader('content-type', 'application/json').end('{"items":[{"id":1}]}');
  });
  // Its standard input stays open.
  const { status, output } = await run('connect', 'open', ...wordsOf(settings));
  expect([status, JSON.parse(output)]).toMatchObject([0, { has_secret: false }]);
  await feeds.settled('open');
  const words = [
    'connect',
    'kept',
    '--secret-stdin',
    ...wordsOf({ ...settings, auth_header: { name: 'Authorization' } }),
  ];
  const given = (input: string) => gannetGiven(input, feeds.service.dataDir, 'feed', ...words);
  expect(await given('')).toMatchObject({
    status: 2,
    notes: expect.stringContaining('Expected the secret on standard input, which has no line left') as string,
  });
  expect((await feeds.client.get('/feed/default/kept')).status).toBe(404);
  const kept = await given('s3cret of the source\n');
  expect([kept.status, JSON.parse(kept.output)]).toMatchObject([0, { has_secret: true }]);
  expect(kept.output + kept.notes).not.toContain('s3cret');
  await feeds.settled('kept');
  expect([...new Set(authorizations)]).toEqual([undefined, 's3cret of the source']);
  site.pages.delete('/items');
});

it('gannet feed connect explains that --settings is no JSON, as when a shell removes its quotation marks', async () => {
  const { status, notes } = await run(
    'connect',
    'untidy',
    '--provider',
    'rss',
    '--settings',
    '{url: "https://a.example/"}',
  );
  expect([status, notes]).toEqual([2, expect.stringContaining('--settings expects a JSON object') as string]);
  expect(notes).toContain('This is not JSON. At line 1, column 2');
});

it('gannet feed previews, lists, shows, moves and deletes a feed, and sets its interval', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-feeds-'));
  const store = JSON.stringify({ start_urls: [site.url('/')] });
  const preview = await run('discover', '--settings', store);
  expect([preview.status, preview.output]).toEqual([0, expect.stringContaining(site.url('/a')) as string]);
  await feeds.connect('made', site);
  await feeds.settled('made');
  expect((await run('list')).output).toMatch(/made\s+website\s+Synced/);
  const { output } = await run('show', 'made');
  expect(output).toContain('feeds/made.sync');
  ok(await feeds.control.post('/media-store/default', { name: 'archive', kind: 'folder', folder }));
  expect((await run('move', 'made', 'archive')).status).toBe(0);
  expect((await feeds.feed('made')).media_store).toBe('archive');
  await feeds.settled('made');
  expect((await run('interval', 'made', '4')).status).not.toBe(0);
  expect((await run('interval', 'made', '45')).status).toBe(0);
  expect((await run('delete', 'made')).status).toBe(0);
  expect((await feeds.client.get('/feed/default/made')).status).toBe(404);
  rmSync(folder, { recursive: true, force: true });
});
