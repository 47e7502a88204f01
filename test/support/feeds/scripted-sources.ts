/** A source for each provider, on loopback, whose records and failures a test defines. */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ProviderName } from '../../../src/feeds/providers/provider-settings.js';
import { ScriptedServer, type Asked } from '../scripted-server.js';
import { MadeMailbox } from './made-mailbox.js';
import { html } from './made-site.js';

export const FAULTS = [
  'is down',
  'answers 500',
  'refuses the sign-in',
  'answers what is nothing of its kind',
  'breaks off',
  'gives half as though it were all',
  'lists nothing',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Titles by name. */
export type Titles = Readonly<Record<string, string>>;

export interface ScriptedSource {
  readonly provider: ProviderName;
  /** Environment of the service. */
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of the feed. */
  readonly settings: object;
  /** Media store that has to exist before the feed. */
  readonly store?: object;
  /** Secret that the server requires; failing servers repeat it. */
  readonly secret?: string;
  /** Returns the name that the record of this name has in the list. */
  nameOf(name: string): string;
  /** Names of records besides those defined by the test. */
  readonly always: readonly string[];
  /** Field with the title. */
  readonly titleField: string;
  /** Some of the fields that a list takes over. */
  readonly fields: {
    readonly searchable: readonly string[];
    readonly facets: readonly string[];
    readonly resources: readonly string[];
  };
  /** What happens beyond the limit of a feed: the rest is cut, the run fails, or there is no limit. */
  readonly beyondLimit: 'is cut' | 'fails' | 'is read';
  readonly titles: Titles;
  has(titles: Titles): void;
  fails(fault: Fault | undefined): void;
  /** Delays answers from now on. Resolves when the first request waits. */
  hold(): Promise<void>;
  release(): void;
  close(): Promise<void>;
}

/** Delays answers, and knows when the first one is waiting. */
class Hold {
  private waiting: (() => void)[] = [];
  private onAsked: (() => void) | undefined;
  private isHeld = false;

  begin(): Promise<void> {
    this.isHeld = true;
    return new Promise((resolve) => (this.onAsked = resolve));
  }

  end(): void {
    this.isHeld = false;
    for (const answer of this.waiting.splice(0)) answer();
  }

  /** Returns true if the answer is delayed. */
  takes(answer: () => void): boolean {
    if (!this.isHeld) return false;
    this.waiting.push(answer);
    this.onAsked?.();
    return true;
  }
}

/** Common parts of sources over HTTP: each path has a text, which a fault alters. */
abstract class HttpSource implements ScriptedSource {
  abstract readonly provider: ProviderName;
  abstract readonly settings: object;
  abstract readonly titleField: string;
  abstract readonly fields: ScriptedSource['fields'];
  abstract readonly beyondLimit: ScriptedSource['beyondLimit'];
  protected abstract readonly type: string;
  readonly always: readonly string[] = [];
  titles: Titles = {};
  private readonly held = new Hold();
  protected fault: Fault | undefined;

  constructor(protected readonly server: ScriptedServer) {
    server.script = (asked, response) => {
      if (!this.held.takes(() => this.answer(asked, response))) this.answer(asked, response);
    };
  }

  /** Returns the text at a path. Undefined if there is none. */
  protected abstract textOf(path: string, titles: Titles): string | undefined;
  abstract nameOf(name: string): string;

  has(titles: Titles): void {
    this.titles = titles;
  }

  fails(fault: Fault | undefined): void {
    this.fault = fault;
  }

  hold(): Promise<void> {
    return this.held.begin();
  }

  release(): void {
    this.held.end();
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private answer({ path, headers }: Asked, response: ServerResponse): void {
    const { fault, titles } = this;
    const text = this.textOf(path, fault === 'lists nothing' ? {} : titles);
    const type = { 'content-type': this.type };
    switch (fault) {
      case 'is down':
        return void response.destroy();
      case 'answers 500':
      case 'refuses the sign-in':
        return void response.writeHead(fault === 'answers 500' ? 500 : 401, type).end(JSON.stringify(headers));
      case 'answers what is nothing of its kind':
        return void response.writeHead(200, type).end(Buffer.concat([Buffer.from([0, 0xff]), randomBytes(1000)]));
      default:
    }
    if (text === undefined) return void response.writeHead(404).end();
    const half = text.slice(0, text.length / 2);
    if (fault === 'gives half as though it were all') return void response.writeHead(200, type).end(half);
    if (fault !== 'breaks off') return void response.writeHead(200, type).end(text);
    response.writeHead(200, { ...type, 'content-length': Buffer.byteLength(text) });
    response.write(half, () => response.destroy());
  }
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

class ScriptedWebsite extends HttpSource {
  readonly provider = 'website';
  readonly titleField = 'title';
  readonly fields = { searchable: ['title', 'text'], facets: ['language'], resources: ['image', 'document'] };
  readonly beyondLimit = 'is cut';
  protected readonly type = 'text/html; charset=utf-8';
  override readonly always = [this.server.url('/')];
  readonly settings = { start_urls: [this.server.url('/')], pages_max: 30 };

  nameOf(name: string): string {
    return this.server.url(`/${name}`);
  }

  protected textOf(path: string, titles: Titles): string | undefined {
    // A site that has lost its contents shows an empty page at every address.
    if (this.fault === 'lists nothing') return html('', '');
    if (path === '/') return html('Home', 'Where it begins', ...Object.keys(titles).map((name) => `/${name}`));
    const title = titles[path.slice(1)];
    return title === undefined
      ? undefined
      : html(escaped(title), `The page ${escaped(path)} says something of its own.`);
  }
}

class ScriptedFeed extends HttpSource {
  readonly provider = 'rss';
  readonly titleField = 'title';
  readonly fields = { searchable: ['title', 'text'], facets: ['authors', 'published'], resources: ['image'] };
  readonly beyondLimit = 'fails';
  protected readonly type = 'application/rss+xml';
  readonly settings = { url: this.server.url('/feed'), drop_left_items: true };

  nameOf(name: string): string {
    return `https://news.example/${name}`;
  }

  protected textOf(_path: string, titles: Titles): string {
    const items = Object.entries(titles).map(
      ([name, title]) =>
        `<item><title>${escaped(title)}</title><link>${this.nameOf(name)}</link><description>${'Words. '.repeat(300)}</description></item>`,
    );
    return `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>${items.join('')}</channel></rss>`;
  }
}

class ScriptedApi extends HttpSource {
  readonly provider = 'api';
  readonly secret = 'tok3n-of-the-interface';
  readonly titleField = 'title';
  readonly fields = { searchable: ['title'], facets: ['rank'], resources: [] };
  readonly beyondLimit = 'is cut';
  protected readonly type = 'application/json';
  readonly settings = {
    url: this.server.url('/items'),
    records: 'data',
    name: 'key',
    fields: { title: 'title', rank: 'rank' },
    auth_header: { name: 'X-Token' },
  };

  nameOf(name: string): string {
    return name;
  }

  protected textOf(_path: string, titles: Titles): string {
    return JSON.stringify({ data: Object.entries(titles).map(([key, title]) => ({ key, title, rank: 1 })) });
  }
}

/** A bucket: a server that lists files like S3. Sizes represent titles, which files do not have. */
class ScriptedBucket extends HttpSource {
  readonly provider = 'media-store';
  readonly titleField = 'bytes';
  readonly fields = { searchable: ['title', 'path'], facets: ['bytes'], resources: ['document'] };
  readonly beyondLimit = 'is read';
  protected readonly type = 'application/xml';
  readonly settings = { store: 'bucket' };

  get store() {
    const endpoint = this.server.url('').replace(/\/$/, '');
    return {
      name: 'bucket',
      kind: 's3',
      endpoint,
      bucket: 'files',
      access_key_id: 'AKIATEST',
      secret_access_key: 'secr3t-of-the-bucket',
    };
  }

  nameOf(name: string): string {
    return `${name}.pdf`;
  }

  protected textOf(path: string, titles: Titles): string {
    const query = new URL(path, 'http://x').searchParams;
    const behind = query.get('start-after') ?? '';
    const keys = Object.keys(titles)
      .sort()
      .filter((name) => this.nameOf(name) > behind);
    const shown = keys.slice(0, Number(query.get('max-keys') ?? 1000));
    const contents = shown.map(
      (name) =>
        `<Contents><Key>${this.nameOf(name)}</Key><LastModified>2026-11-22T00:00:00.000Z</LastModified><ETag>"${name}"</ETag><Size>${titles[name]?.length ?? 0}</Size></Contents>`,
    );
    return `<?xml version="1.0"?><ListBucketResult><Name>files</Name><IsTruncated>${shown.length < keys.length}</IsTruncated>${contents.join('')}</ListBucketResult>`;
  }
}

/** A mailbox, with sign-in by token. A changed message is a new one with the same Message-ID. */
class ScriptedMailbox implements ScriptedSource {
  readonly provider = 'email';
  readonly secret = 'tok3n-of-the-mailbox';
  readonly always = [];
  readonly titleField = 'subject';
  readonly fields = { searchable: ['subject', 'text'], facets: ['from', 'date', 'folder'], resources: ['document'] };
  readonly beyondLimit = 'is cut';
  titles: Titles = {};
  private readonly held = new Hold();
  private readonly uids = new Map<string, number>();
  private lastUid = 0;
  private fault: Fault | undefined;

  private constructor(readonly mailbox: MadeMailbox) {
    mailbox.token = this.secret;
    mailbox.instead = (command, tag, socket) => this.instead(command, tag, socket);
  }

  static async start(): Promise<ScriptedMailbox> {
    return new ScriptedMailbox(await MadeMailbox.start());
  }

  get env() {
    return { NODE_EXTRA_CA_CERTS: this.mailbox.certificatePath };
  }

  get settings() {
    return { host: 'localhost', port: this.mailbox.port, user: 'ada@a.example', auth: 'xoauth2' };
  }

  nameOf(name: string): string {
    return `${name}@a.example`;
  }

  has(titles: Titles): void {
    this.titles = titles;
    this.fill(titles);
  }

  fails(fault: Fault | undefined): void {
    // A mailbox that lost its messages was created again, and is empty.
    if (fault === 'lists nothing') this.mailbox.uidValidity += 1;
    this.fault = fault;
    this.fill(fault === 'lists nothing' ? {} : this.titles);
  }

  hold(): Promise<void> {
    return this.held.begin();
  }

  release(): void {
    this.held.end();
  }

  close(): Promise<void> {
    return this.mailbox.close();
  }

  private fill(titles: Titles): void {
    const messages = Object.entries(titles).map(([name, title]) => {
      const lines = [
        `Message-ID: <${this.nameOf(name)}>`,
        'From: Ada <ada@a.example>',
        `Subject: ${title}`,
        '',
        'Text',
      ];
      const source = lines.join('\r\n');
      const uid = this.uids.get(source) ?? (this.lastUid += 1);
      this.uids.set(source, uid);
      return { uid, source: Buffer.from(source) };
    });
    this.mailbox.messages.splice(0, this.mailbox.messages.length, ...messages.sort((a, b) => a.uid - b.uid));
  }

  private instead(command: string, tag: string, socket: Socket): boolean {
    const { fault } = this;
    const no = (why: string) => socket.write(`${tag} NO ${why} ${this.secret}\r\n`);
    if (command === 'UID SEARCH' && this.held.takes(() => socket.destroy())) return true;
    if (command === '' && fault === 'is down') socket.destroy();
    else if (command === '' && fault === 'answers what is nothing of its kind')
      socket.write(`${'\0ÿ{9}('.repeat(99)}\r\n`);
    else if (command === 'AUTHENTICATE' && fault === 'refuses the sign-in') no('[AUTHENTICATIONFAILED]');
    else if (/^(SELECT|EXAMINE)$/.test(command) && fault === 'answers 500') no('[UNAVAILABLE]');
    else if (command === 'UID SEARCH' && fault === 'breaks off') socket.end('* SEARCH 1 2');
    else if (command === 'UID SEARCH' && fault === 'gives half as though it were all')
      socket.write(`* SEARCH ${this.mailbox.messages[0]?.uid ?? ''}\r\n${tag} OK done\r\n`);
    else return false;
    return true;
  }
}

export const SCRIPTED_SOURCES = {
  website: async () => new ScriptedWebsite(await ScriptedServer.start()),
  rss: async () => new ScriptedFeed(await ScriptedServer.start()),
  api: async () => new ScriptedApi(await ScriptedServer.start()),
  'media-store': async () => new ScriptedBucket(await ScriptedServer.start()),
  email: () => ScriptedMailbox.start(),
} satisfies Readonly<Record<ProviderName, () => Promise<ScriptedSource>>>;
