/**
 * Tests which records a list has after its mailbox failed, or with unusual messages. The server is signed in to with
 * a token (XOAUTH2).
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FeedService } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { MadeMailbox } from '../support/feeds/made-mailbox.js';
import { ATTACHED_PDF, nested } from '../support/feeds/messages.js';
import { certificateFault } from '../support/certificate.js';
import { describeWhere } from '../support/skip.js';

const TOKEN = 'ya29.t0ken';
const MESSAGE_BYTES_MAX = 1_000_000;

const message = (id: string, ...lines: readonly string[]) =>
  [`Message-ID: <${id}@a.example>`, 'From: Ada <ada@a.example>', ...lines].join('\r\n');
const fault = certificateFault();
describeWhere(fault === undefined, fault ?? '')('a mailbox', () => {
  let mailbox: MadeMailbox;
  let feeds: FeedService;
  let feedsMade = 0;
  beforeAll(async () => {
    mailbox = await MadeMailbox.start();
    mailbox.token = TOKEN;
    feeds = await FeedService.start({
      env: { NODE_EXTRA_CA_CERTS: mailbox.certificatePath, GANNET_FEEDS_PAGE_BYTES_MAX: String(MESSAGE_BYTES_MAX) },
    });
  });
  afterAll(async () => {
    await feeds.close();
    await mailbox.close();
  });

  function put(...sources: readonly (string | Buffer)[]): void {
    mailbox.messages.splice(0);
    sources.forEach((source, place) => mailbox.messages.push({ uid: place + 1, source: Buffer.from(source) }));
  }

  async function followed(): Promise<FollowedFeed> {
    feedsMade += 1;
    const settings = { host: 'localhost', port: mailbox.port, user: 'ada@a.example', auth: 'xoauth2' };
    return FollowedFeed.connect(feeds, `mail${feedsMade}`, { provider: 'email', settings, secret: TOKEN });
  }

  it.each([true, false])(
    'keeps all records if its token is cancelled (token in the first line: %s)',
    async (inOneLine) => {
      mailbox.takesInitialResponse = inOneLine;
      put(message('1', 'Subject: One', '', 'a'), message('2', 'Subject: Two', '', 'b'));
      const feed = await followed();
      const before = (await feed.now()).records;
      expect(before.map(({ name }) => name)).toEqual(['1@a.example', '2@a.example']);
      mailbox.token = 'another';
      const { records, feed: shown } = await feed.sync();
      expect([records, shown.status]).toEqual([before, 'Failed']);
      expect(shown.error?.message).toContain('refused the sign-in');
      mailbox.token = TOKEN;
      put(message('1', 'Subject: One', '', 'a'));
      expect((await feed.sync()).names).toEqual(['1@a.example']);
      // A feed whose records name files in their media store cannot be moved to another.
      const moved = await feeds.control.post(`/feed/default/${feed.name}/move`, { media_store: 'default' });
      expect(moved.status).toBe(422);
      expect(feeds.service.output).not.toContain(TOKEN);
    },
  );

  it('goes on with a new token once its token has expired, and keeps the old one if the server refuses the new one', async () => {
    put(message('1', 'Subject: One', '', 'a'));
    const feed = await followed();
    await feed.now();
    const replace = (secret: string, client = feeds.control) =>
      client.put(`/feed/default/${feed.name}/secret`, { secret });
    expect((await replace('wrong')).body).toMatchObject({ code: 'source-unusable' });
    expect((await feed.sync()).feed.status).toBe('Synced');
    mailbox.token = 'renewed';
    put(message('1', 'Subject: One', '', 'a'), message('2', 'Subject: Two', '', 'b'));
    expect((await feed.sync()).feed).toMatchObject({ status: 'Failed', searchable_in: [feed.name] });
    expect((await replace('renewed', feeds.client)).body).toMatchObject({ code: 'console-only' });
    const replaced = await replace('renewed');
    expect([replaced.status, replaced.text.includes('renewed')]).toEqual([200, false]);
    await feeds.settled(feed.name);
    expect((await feed.now()).names).toEqual(['1@a.example', '2@a.example']);
    mailbox.token = TOKEN;
    expect(feeds.service.output).not.toContain('renewed');
  });

  it('has each message once, and writes none again, if UIDVALIDITY changes', async () => {
    put(message('1', 'Subject: One', '', 'a'), message('2', 'Subject: Two', '', 'b'));
    const feed = await followed();
    const before = (await feed.now()).records;
    mailbox.uidValidity += 1;
    mailbox.messages.reverse().forEach((each, place) => Object.assign(each, { uid: 70 + place }));
    mailbox.asked.splice(0);
    const { records, feed: shown } = await feed.sync();
    expect(records).toEqual(before);
    expect(shown.last_run).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 2 });
    expect(mailbox.asked).toContain('UID FETCH');
    mailbox.asked.splice(0);
    await feed.sync();
    expect(mailbox.asked).not.toContain('UID FETCH');
  });

  it('has the text of messages without a charset, of nested ones and of one with 50 MB', async () => {
    const huge = Buffer.from(`${message('huge', ...ATTACHED_PDF)}\r\n${`${'QUFB'.repeat(19)}\r\n`.repeat(20_000)}`);
    put(
      Buffer.concat([Buffer.from(message('latin', 'Subject: x', '', '')), Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65])]),
      message('nested', nested(20)),
    );
    mailbox.messages.push({ uid: 3, source: huge, bytes: 50_000_000 });
    const feed = await followed();
    const { records } = await feed.now();
    const texts = Object.fromEntries(records.map(({ name, fields }) => [name.split('@')[0], fields['text']]));
    expect(texts).toEqual({
      huge: 'See the file',
      latin: expect.stringMatching(/^Gr.*e$/) as string,
      nested: expect.stringContaining('Deep inside') as string,
    });
    expect(JSON.stringify((await feeds.feed(feed.name)).last_run)).toContain('50000000 bytes');
  });
});
