/**
 * Tests which records a list has if the host name of its RSS feed, API or mailbox cannot be resolved; websites have
 * tests of their own.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { certificateFault } from '../support/certificate.js';
import { FeedService } from '../support/feeds/feed-service.js';
import { FollowedFeed, type FollowOptions } from '../support/feeds/followed-feed.js';
import { MadeMailbox } from '../support/feeds/made-mailbox.js';
import { namesEnvironment } from '../support/feeds/made-names.js';
import { MadeSite } from '../support/feeds/made-site.js';
import { describeWhere } from '../support/skip.js';

const fault = certificateFault();
describeWhere(fault === undefined, fault ?? '')('a name that is not found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-names-'));
  const namesFile = join(folder, 'names.json');
  const lead = (names: Readonly<Record<string, readonly string[]>>) => writeFileSync(namesFile, JSON.stringify(names));
  let site: MadeSite;
  let mailbox: MadeMailbox;
  let feeds: FeedService;
  beforeAll(async () => {
    lead({});
    [site, mailbox] = [await MadeSite.start({}, 'localhost'), await MadeMailbox.start()];
    mailbox.token = 't0ken';
    site.pages.set('/feed', (_asked, response) =>
      response.end('<rss><channel><item><guid>1</guid><title>A</title></item></channel></rss>'),
    );
    site.pages.set('/items', (_asked, response) =>
      response.setHeader('content-type', 'application/json').end('{"items":[{"id":"1","title":"A"}]}'),
    );
    mailbox.messages.push({ uid: 1, source: Buffer.from('Message-ID: <1@a.example>\r\nSubject: A\r\n\r\na') });
    const env = { ...namesEnvironment(namesFile), NODE_EXTRA_CA_CERTS: mailbox.certificatePath };
    feeds = await FeedService.start({ env });
  });
  afterAll(async () => {
    await feeds.close();
    await Promise.all([site.close(), mailbox.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const SOURCES: Readonly<Record<string, () => FollowOptions>> = {
    rss: () => ({ provider: 'rss', settings: { url: site.url('/feed') } }),
    api: () => ({ provider: 'api', settings: { url: site.url('/items'), records: 'items', name: 'id' } }),
    email: () => ({
      provider: 'email',
      settings: { host: 'localhost', port: mailbox.port, user: 'ada@a.example', auth: 'xoauth2' },
      secret: 't0ken',
    }),
  };

  it.each(
    Object.keys(SOURCES).flatMap((provider) => ['ENOTFOUND', 'EAI_AGAIN'].map((code) => [provider, code] as const)),
  )('keeps the records of a list that follows a feed of the kind %s (%s)', async (provider, code) => {
    const options = SOURCES[provider]?.() ?? { provider, settings: {} };
    const feed = await FollowedFeed.connect(feeds, `${provider}-${code.toLowerCase().replace('_', '-')}`, options);
    const before = (await feed.now()).records;
    expect(before).toHaveLength(1);
    lead({ localhost: [code] });
    site.server.dropConnections();
    const { records, feed: shown } = await feed.sync();
    expect([records, shown.status, shown.record_count]).toEqual([before, 'Failed', 1]);
    expect(shown.error?.message).toContain(code);
    lead({});
    expect(await feed.sync()).toMatchObject({ records: before, feed: { status: 'Synced', error: null } });
  });
});
