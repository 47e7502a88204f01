/**
 * Changes what is stored next to lists until the service dies: files of the built-in media store, API keys, records
 * with webhook events, and backups. Runs next to `WriteLoad` and `ChangeLoad`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceClient } from '../support/client.js';
import type { SeededRandom } from '../support/random.js';
import type { TestService } from '../support/service.js';
import type { Received } from '../support/webhook-receiver.js';
import { Changing } from './change-load.js';
import { DyingLoad } from './dying-load.js';
import { ACCOUNT } from './write-load.js';

export const TOLD_LIST = 'told';
const FILES = 6;
const FILE_BYTES_MAX = 20_000;
const BACKUPS_KEPT = 2;
/** The most valid keys: an account may have 10,000. */
const KEYS_MAX = 200;
const WRITE_EVERY_MS = 20;

/** The expectations over all rounds. */
export class ExpectedParts {
  /** By path: how the content begins. */
  readonly files = new Map<string, Changing<string | undefined>>();
  /** Secrets of keys, and whether they are still valid. */
  readonly keys = new Map<string, Changing<boolean>>();
  /** Records whose creation was acknowledged. */
  readonly made = new Set<string>();
  private readonly told = new Set<string>();
  /** The last acknowledged one. */
  backup: string | undefined;
  backups = 0;

  file(path: string): Changing<string | undefined> {
    let file = this.files.get(path);
    if (file === undefined) this.files.set(path, (file = new Changing<string | undefined>(undefined)));
    return file;
  }

  /** The event of a record may come before the record's answer. */
  hear({ body: { data } }: Received): void {
    this.told.add(String(data['name']));
  }

  untold(): string[] {
    return [...this.made].filter((name) => !this.told.has(name));
  }
}

export interface PartsLoadOptions {
  readonly service: TestService;
  readonly expected: ExpectedParts;
  readonly random: SeededRandom;
  /** Returns a number that was never given out before. */
  readonly next: () => number;
  readonly backups: string;
}

export class PartsLoad extends DyingLoad {
  /** Resolves with the first acknowledged backup, however long a busy machine takes for it. */
  readonly backedUp: Promise<void>;
  private readonly client: ServiceClient;
  private tellBackedUp = (): void => undefined;
  /**
   * An index changed faster than it was copied, as any does on a busy machine; nothing is written during the next
   * backup.
   */
  private isResting = false;

  constructor(private readonly options: PartsLoadOptions) {
    super();
    this.client = options.service.client;
    this.backedUp = new Promise((resolve) => {
      this.tellBackedUp = resolve;
    });
  }

  async run(): Promise<void> {
    const actors = [
      ...Array.from({ length: FILES }, (_, file) => () => this.changeFile(`file-${file}`)),
      () => this.changeKeys(),
      () => this.write(),
      () => this.backUp(),
    ];
    await this.repeatAll(actors);
  }

  private async changeFile(path: string): Promise<void> {
    const { expected, random, next } = this.options;
    const file = expected.file(path);
    const url = `/media/${ACCOUNT}/default/${path}`;
    if (file.value !== undefined && random.below(3) === 0) {
      file.begin(undefined);
      await this.ask([204], this.client.delete(url), 'deletion of a file');
    } else {
      const begin = `content ${next()} `;
      file.begin(begin);
      const bytes = begin.repeat(1 + random.below(FILE_BYTES_MAX / begin.length));
      await this.ask([200, 201], this.client.send('PUT', url, { bytes }), 'upload');
    }
    file.acknowledge();
  }

  private async changeKeys(): Promise<void> {
    const { expected, random, next, service } = this.options;
    const made = await this.ask(
      [201],
      service.control().post(`/api-key/${ACCOUNT}`, { name: `key-${next()}`, access: 'full' }),
      'key',
    );
    const { id, key } = made.body as { readonly id: string; readonly key: string };
    const known = new Changing(true);
    expected.keys.set(key, known);
    const isKept = random.below(2) === 0 && [...expected.keys.values()].filter(({ value }) => value).length < KEYS_MAX;
    if (isKept) return;
    known.begin(false);
    await this.ask([204], service.control().delete(`/api-key/${ACCOUNT}/${id}`), 'deletion of a key');
    known.acknowledge();
  }

  private async write(): Promise<void> {
    if (this.isResting && !this.dead) return pause(WRITE_EVERY_MS);
    const { expected, next } = this.options;
    const name = `told-${next()}`;
    await this.ask([201], this.client.post(`/search-result/${ACCOUNT}/${TOLD_LIST}`, { name }), 'record');
    expected.made.add(name);
    await pause(WRITE_EVERY_MS);
  }

  private async backUp(): Promise<void> {
    const { expected, service, backups: folder } = this.options;
    const request = { folder, keep: BACKUPS_KEPT };
    const { status, body } = await this.ask([201, 409], service.control().post('/backup', request), 'backup');
    this.isResting = status === 409;
    if (this.isResting) return;
    this.tellBackedUp();
    expected.backup = (body as { readonly path: string }).path;
    expected.backups += 1;
  }
}

/** Returns the problems after a restart; empty if everything is as it was acknowledged. Events are compared later. */
export async function compareParts({ client, ...service }: Compared, expected: ExpectedParts): Promise<string[]> {
  const problems: (string | undefined)[] = [];
  for (const [path, file] of expected.files) {
    const { status, text } = await client.get(`/media/${ACCOUNT}/default/${path}`);
    const begin = /^content \d+ /u.exec(text)?.[0];
    if (begin !== undefined && text.replaceAll(begin, '') !== '') problems.push(`${path} is not whole`);
    problems.push(file.compare(status === 404 ? undefined : (begin ?? text), path));
  }
  for (const [key, known] of expected.keys) {
    const { status } = await service.clientWith(key).get(`/list/${ACCOUNT}`);
    problems.push(known.compare(status === 200, `that a key opens something (${status})`));
    if (!known.value) expected.keys.delete(key);
  }
  if (expected.backup !== undefined && !isThere(expected.backup)) problems.push(`${expected.backup} is gone`);
  return problems.filter((problem) => problem !== undefined);
}

/**
 * Says whether the backup is complete, or was deleted for as many newer ones as are kept; unacknowledged ones count
 * as well.
 */
function isThere(backup: string): boolean {
  const isWhole = (path: string) => existsSync(join(path, 'backup.json'));
  const folder = dirname(backup);
  const newer = readdirSync(folder).filter((name) => name > basename(backup) && isWhole(join(folder, name)));
  return isWhole(backup) || newer.length >= BACKUPS_KEPT;
}

export interface Compared {
  readonly client: ServiceClient;
  readonly clientWith: (key: string) => ServiceClient;
}
