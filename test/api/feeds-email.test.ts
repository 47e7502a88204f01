/** Tests mailboxes as sources on two real IMAP servers, which differ in what they accept. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { ImapFlow } from 'imapflow';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  EmailSource,
  type EmailMemory,
  type EmailSettings,
  type EmailSourceOptions,
} from '../../src/feeds/providers/email-source.js';
import { SourceFailedError } from '../../src/feeds/source/source-run.js';
import { Secret } from '../../src/platform/index.js';
import { dovecotFault, startDovecot } from '../support/feeds/dovecot.js';
import { freePort } from '../support/free-port.js';
import { greenMailFault, startGreenMail } from '../support/feeds/greenmail.js';
import type { MailServer } from '../support/feeds/mail-server.js';
import { ATTACHED_PDF, nested } from '../support/feeds/messages.js';
import { FeedService, ok } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { MadeFolder, sync, SYNC_PATH } from '../support/feeds/made-source.js';
import { describeWhere } from '../support/skip.js';

const toLoopback: NonNullable<EmailSourceOptions['lookup']> = (_name, _options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }]);

describe.each([
  ['dovecot', dovecotFault, startDovecot],
  ['GreenMail', greenMailFault, startGreenMail],
] as const)('%s:', (_, faultOf, start) => {
  const fault = faultOf();
  describeWhere(fault === undefined, fault ?? '')('a mailbox', () => {
    mailboxTests(start);
  });
  describeWhere(fault === undefined, fault ?? '')('its start', () => {
    it.each([0, 1])('chooses other ports if port number %s of its two was taken after it was chosen', async (place) => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const taken = (other.address() as AddressInfo).port;
      let drawn = 0;
      const server = await start(async () => (drawn++ === place ? taken : freePort()));
      expect([server.tlsPort, server.plainPort]).not.toContain(taken);
      expect(drawn).toBe(4);
      await server.close();
      other.close();
    });
  });
});

function mailboxTests(start: () => Promise<MailServer>): void {
  let server: MailServer;
  let files: MadeFolder;
  let memory: EmailMemory | undefined;
  let user = '';
  let users = 0;

  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    files = new MadeFolder();
    memory = undefined;
    users += 1;
    user = `user${users}`;
  });
  afterEach(() => files.remove());

  function run(settings: Partial<EmailSettings> = {}, options: Partial<EmailSourceOptions> = {}) {
    const source = new EmailSource({
      settings: {
        host: 'mail.example',
        port: server.tlsPort,
        security: 'tls',
        user,
        auth: 'password',
        folders: ['INBOX'],
        since_days: 0,
        ...settings,
      },
      secret: new Secret(server.password),
      rules: { allowed_hosts: [], loopback_allowed: true },
      memory: {
        read: () => memory,
        write: (next) => {
          memory = next;
          return Promise.resolve();
        },
      },
      nowMs: Date.now,
      messageBytesMax: 1_000_000,
      recordsMax: 1000,
      trusted: server.certificate,
      lookup: toLoopback,
      ...options,
    });
    return sync(files, source);
  }

  const asOwner = (action: (client: ImapFlow) => Promise<unknown>) => server.asOwner(user, action);

  const put = (...messages: readonly (string | Buffer)[]) =>
    asOwner(async (client) => {
      for (const message of messages) await client.append('INBOX', message);
    });

  const records = () =>
    files
      .text(SYNC_PATH)
      .split('\n')
      .slice(1, -1)
      .map((line) => JSON.parse(line) as { readonly name: string; readonly fields: Readonly<Record<string, unknown>> });

  const message = (id: string, ...lines: readonly string[]) =>
    [`Message-ID: <${id}@a.example>`, 'From: Ada <ada@a.example>', 'To: bob@b.example', ...lines].join('\r\n');

  it('becomes records with their fields, and a second run fetches no messages', async () => {
    await put(
      message('1', 'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=', 'Date: Sat, 21 Nov 2026 10:00:00 +0100', '', 'First text'),
      message('2', 'Subject: Re', 'In-Reply-To: <1@a.example>', 'References: <1@a.example>', '', 'Second'),
    );
    expect(await run()).toMatchObject({ added: 2, requests: 2 });
    expect(records()[0]).toEqual({
      name: '1@a.example',
      fields: {
        date: '2026-11-21T09:00:00.000Z',
        folder: 'INBOX',
        from: ['Ada <ada@a.example>'],
        subject: 'Grüße',
        text: 'First text',
        thread: '1@a.example',
        to: ['bob@b.example'],
      },
    });
    expect(records()[1]?.fields['thread']).toBe('1@a.example');
    expect(await run()).toMatchObject({ unchanged: 2, requests: 1, bytes: 0, wasReplaced: false });
  });

  it('is listed again only if something has happened, or if the server cannot tell (without CONDSTORE)', async () => {
    const search = vi.spyOn(ImapFlow.prototype, 'search');
    /** Returns the counts of the run, and whether it listed the mailbox. */
    const outcome = async (settings?: Partial<EmailSettings>) => {
      search.mockClear();
      const { added, changed, removed, unchanged } = await run(settings);
      return { counts: [added, changed, removed, unchanged], listed: search.mock.calls.length > 0 };
    };
    const listedHere = !server.hasCondStore;
    try {
      await put(message('1', '', 'a'), message('2', '', 'b'));
      expect(await outcome()).toEqual({ counts: [2, 0, 0, 0], listed: true });
      expect(await outcome()).toEqual({ counts: [0, 0, 0, 2], listed: listedHere });
      // A flag changes no record, but requires a new listing.
      await asOwner(async (client) => {
        await client.mailboxOpen('INBOX');
        await client.messageFlagsAdd('1', ['\\Flagged']);
      });
      expect(await outcome()).toEqual({ counts: [0, 0, 0, 2], listed: true });
      // One message arrives and another is deleted, so that their number stays the same.
      await asOwner(async (client) => {
        await client.mailboxOpen('INBOX');
        await client.messageDelete('1');
      });
      await put(message('3', '', 'c'));
      expect(await outcome()).toEqual({ counts: [1, 0, 1, 1], listed: true });
      expect(await outcome()).toEqual({ counts: [0, 0, 0, 2], listed: listedHere });
      // The newest message is deleted, which leaves UIDNEXT as it was.
      await asOwner(async (client) => {
        await client.mailboxOpen('INBOX');
        await client.messageDelete('2');
      });
      expect(await outcome()).toEqual({ counts: [0, 0, 1, 1], listed: true });
      // With a limit on age, a message can drop out although nothing happened in the mailbox.
      expect((await outcome({ since_days: 10 })).listed).toBe(true);
      expect((await outcome({ since_days: 10 })).listed).toBe(true);
    } finally {
      search.mockRestore();
    }
  });

  it('loses a record only if its message was deleted, and not if a run fails', async () => {
    await put(message('1', '', 'a'), message('2', '', 'b'));
    await run();
    const before = files.text(SYNC_PATH);
    for (const [settings, options, why] of [
      [{}, { secret: new Secret('wr0ng') }, 'refused the sign-in'],
      [{ folders: ['INBOX', 'Nowhere'] }, {}, "no folder 'Nowhere'"],
      [{ port: 1 }, {}, 'ECONNREFUSED'],
      [{}, { trusted: undefined }, 'cannot be read'],
      [{ host: 'other.example' }, {}, 'cannot be read'],
    ] as const) {
      const failing = run(settings, options as Partial<EmailSourceOptions>);
      await expect(failing).rejects.toThrow(SourceFailedError);
      await expect(failing).rejects.toThrow(why);
      await expect(failing).rejects.not.toThrow('wr0ng');
      expect(files.text(SYNC_PATH)).toBe(before);
    }
    await asOwner(async (client) => {
      await client.mailboxOpen('INBOX');
      await client.messageDelete('1');
    });
    await put(message('3', '', 'c'));
    expect(await run()).toMatchObject({ added: 1, removed: 1, unchanged: 1 });
  });

  it('keeps its records if UIDVALIDITY changes, and has a message in two folders once', async () => {
    await asOwner((client) => client.mailboxCreate('Archive'));
    const both = message('1', '', 'a');
    const nameless = 'Subject: None\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\n\r\nWithout an id';
    const fill = async (client: ImapFlow) => {
      await client.append('Archive', both);
      await client.append('Archive', nameless);
    };
    await put(both);
    await asOwner(fill);
    const folders = ['INBOX', 'Archive'];
    expect(await run({ folders })).toMatchObject({ added: 2 });
    await asOwner(async (client) => {
      // Renamed, as a deletion would end the connection at GreenMail 2.1.8 if a reader that has left had opened it.
      await client.mailboxRename('Archive', 'Before');
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await client.mailboxCreate('Archive');
      await fill(client);
    });
    expect(await run({ folders })).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 2 });
  });

  it('is read even with malformed, nested and very large messages', async () => {
    await put(
      Buffer.concat([Buffer.from(message('latin', 'Subject: x', '', '')), Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65])]),
      message('nested', nested(20)),
      message('huge', ...ATTACHED_PDF, `${'QUFB'.repeat(19)}\r\n`.repeat(60_000), '--x--'),
      message('html', 'Content-Type: text/html', '', '<p>Only <b>HTML</b></p><script>x</script>'),
      message('odd', 'Date: in a while', 'Content-Type: text/plain; charset=no-such', '', 'Odd'),
      'no header at all',
    );
    expect(await run()).toMatchObject({ added: 6, skipped_count: 1 });
    const texts = new Map(records().map(({ name, fields }) => [name.split('@')[0], fields]));
    expect(texts.get('latin')?.['text']).toMatch(/^Gr.*e$/);
    expect(texts.get('nested')?.['text']).toContain('Deep inside');
    expect(texts.get('huge')).toMatchObject({ text: 'See the file', attachments: ['big.pdf'] });
    expect(texts.get('html')?.['text']).toBe('Only HTML');
    expect(texts.get('odd')).toMatchObject({ text: 'Odd', date: expect.any(String) as string });
  });

  it('as a feed of the service stores attached files in its media store for as long as their messages exist', async () => {
    const feeds = await FeedService.start({ env: { NODE_EXTRA_CA_CERTS: server.certificatePath } });
    const pdf = Buffer.from('%PDF-1.4 made for a test');
    const attached = [
      'Content-Type: multipart/mixed; boundary=x',
      '',
      '--x',
      '',
      'See the file',
      '--x',
      'Content-Type: application/pdf; name=a.pdf',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename=a.pdf',
      '',
      pdf.toString('base64'),
      '--x--',
    ];
    await put(message('1', 'Subject: With a file', ...attached), message('2', 'Subject: None', '', 'None'));
    const settings = { host: 'localhost', port: server.tlsPort, user };
    const body = { name: 'mail', provider: 'email', settings };
    const wrong = await feeds.control.post('/feed/default/connect', { ...body, secret: 'wr0ng' });
    expect(wrong).toMatchObject({ status: 422, body: { code: 'source-unusable' } });
    const given = { ...body, secret: server.password };
    expect(await feeds.client.post('/feed/default/connect', given)).toMatchObject({ status: 403 });
    const connected = await feeds.control.post('/feed/default/connect', given);
    expect(ok(connected)).toMatchObject({ has_secret: true });
    expect(connected.text).not.toContain(server.password);
    expect(await feeds.settled('mail')).toMatchObject({ status: 'Synced', record_count: 2 });
    const [, path = ''] = /"document":"media:default\/([^"]+)"/.exec((await feeds.file('mail')).text) ?? [];
    const file = await feeds.client.get(`/media/default/default/${path}`);
    expect([file.status, file.headers['content-type'], file.text]).toEqual([200, 'application/pdf', pdf.toString()]);
    await asOwner(async (client) => {
      await client.mailboxOpen('INBOX');
      await client.messageDelete('1');
    });
    expect(await feeds.sync('mail')).toMatchObject({ record_count: 1, last_run: { removed: 1 } });
    expect((await feeds.client.get(`/media/default/default/${path}`)).status).toBe(404);
    expect(await feeds.control.post('/feed/default/mail/move', { media_store: 'default' })).toMatchObject({
      status: 422,
    });
    ok(await feeds.control.delete('/feed/default/mail'));
    expect(feeds.service.output).not.toContain(server.password);
    await feeds.close();
  });

  it('has the record of a message with an attached file of 50 MB, without part of the file', async () => {
    const feeds = await FeedService.start({ env: { NODE_EXTRA_CA_CERTS: server.certificatePath } });
    const line = `${'QUFB'.repeat(19)}\r\n`;
    const huge = message(
      'huge',
      'Subject: Large',
      ...ATTACHED_PDF,
      line.repeat(Math.ceil(50e6 / line.length)),
      '--x--',
    );
    expect(huge.length).toBeGreaterThan(50e6);
    await put(huge, message('small', 'Subject: Small', '', 'Beside it'));
    const settings = { host: 'localhost', port: server.tlsPort, user };
    const feed = await FollowedFeed.connect(feeds, 'mail', { provider: 'email', settings, secret: server.password });
    const { records } = await feed.now();
    expect(records.map(({ name, fields }) => [name, fields['text'], fields['attachments']])).toEqual([
      ['huge@a.example', 'See the file', ['big.pdf']],
      ['small@a.example', 'Beside it', undefined],
    ]);
    expect(records[0]?.fields).not.toHaveProperty('document');
    const { last_run: run } = await feeds.feed('mail');
    expect(run?.skipped).toMatchObject([
      { why: expect.stringMatching(/^The message has 5\d{7} bytes; it is read to 10485760\.$/) as string },
    ]);
    expect((await feed.sync()).feed.last_run).toMatchObject({ changed: 0, removed: 0, unchanged: 2 });
    await feeds.close();
  });

  it('is reached only with TLS or STARTTLS, and not if its host name leads to a private address', async () => {
    await put(message('1', '', 'a'));
    const started = run({ security: 'starttls', port: server.plainPort });
    if (server.hasStartTls) expect(await started).toMatchObject({ added: 1 });
    else await expect(started).rejects.toThrow(SourceFailedError);
    const toPrivate: typeof toLoopback = (_name, _options, callback) =>
      callback(null, [{ address: '10.0.0.1', family: 4 }]);
    await expect(run({}, { lookup: toPrivate })).rejects.toThrow('cannot be called');
    await expect(run({}, { rules: { allowed_hosts: [], loopback_allowed: false } })).rejects.toThrow(
      'cannot be called',
    );
  });
}
