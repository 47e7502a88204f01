/** The backups at a place of a media store. Only one service at a time may write there. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { MediaStore } from '../../media/index.js';
import { OperatorError, ServiceError } from '../../platform/index.js';
import { BACKUP_NAME, beyond, freeNameWhere } from '../kept-backups.js';
import { manifestText, readManifest, readSummary, type Manifest, type StoredSummary } from './manifest.js';
import { filesOf, putWhole, readWhole, removeIfThere, type PieceStore } from './piece-store.js';

/** Prefix of the manifests, whose names begin with their year. */
const CENTURY = '2';
const END = '.json';
/** Names the service that is writing there. */
const WRITING = 'writing.json';
const HEAD_BYTES_MAX = 65_536;

export interface StoredBackup {
  readonly name: string;
  /** Undefined if it is damaged, or of a format that this release does not know. */
  readonly summary: StoredSummary | undefined;
}

export class StoredBackups {
  constructor(
    readonly store: MediaStore,
    /** The place as the operator typed it. */
    readonly told: string,
  ) {}

  /** Returns the complete backups, the oldest first. */
  async all(): Promise<readonly StoredBackup[]> {
    const found: StoredBackup[] = [];
    for (const name of await this.names()) {
      const line = await this.firstLine(name);
      // Undefined if it was just removed.
      if (line !== undefined)
        found.push({ name, summary: this.orUndefined(() => readSummary(line, this.pathOf(name))) });
    }
    return found.sort((a, b) => timeOf(a).localeCompare(timeOf(b)) || a.name.localeCompare(b.name));
  }

  pathOf(name: string): string {
    return `${this.told}/${name}`;
  }

  /** Rejects with an `OperatorError` if there is no backup of this name, or it is damaged. */
  async read(name: string): Promise<Manifest> {
    const manifest = await this.readIfThere(name);
    if (manifest !== undefined) return manifest;
    throw new OperatorError(
      `${this.pathOf(name)} is not a backup. \`gannet backup list ${this.told}\` lists the backups.`,
    );
  }

  /** Rejects with an `OperatorError` if the backup is damaged. */
  async readIfThere(name: string): Promise<Manifest | undefined> {
    const bytes = await readWhole(this.store, name + END);
    return bytes === undefined ? undefined : readManifest(Buffer.from(bytes).toString('utf8'), this.pathOf(name));
  }

  /** Writes the manifest, the last step of a backup: from here on it exists. Resolves with its name. */
  async write(manifest: Manifest): Promise<string> {
    const taken = new Set(await this.names());
    const name = freeNameWhere((each) => taken.has(each), manifest.summary.made_utc);
    await putWhole(this.store, name + END, Buffer.from(manifestText(manifest)), this.told);
    return name;
  }

  /**
   * Removes the earlier backups of this data directory so that `keep` remain, including the one made now, and the
   * pieces that no backup needs.
   */
  async removeOldest(earlier: readonly StoredBackup[], keep: number, pieces: PieceStore): Promise<string[]> {
    const removed = beyond(earlier, keep).map(({ name }) => name);
    for (const name of removed) await removeIfThere(this.store, name + END);
    const wanted = new Set<string>();
    for (const name of await this.names()) {
      // If a backup cannot be read, any piece may belong to it: the rejection prevents their removal.
      const { files } = await this.read(name);
      for (const file of files) for (const digest of file.pieces) wanted.add(digest);
    }
    await pieces.removeBut(wanted);
    return removed.map((name) => this.pathOf(name));
  }

  /**
   * Occupies this place until `release`, since another writer would remove pieces that are stored but not yet named. A
   * mark that a service of this data directory left when it was killed is ignored. Rejects with `conflict`.
   */
  async occupy(dataDir: string): Promise<Occupation> {
    const mine = { token: randomUUID(), host: hostname(), data_dir: dataDir, since: new Date().toISOString() };
    const other = await this.writer();
    if (other !== undefined && (other.host !== mine.host || other.data_dir !== mine.data_dir)) throw this.taken(other);
    await putWhole(this.store, WRITING, Buffer.from(JSON.stringify(mine)), this.told);
    const assertHeld = async () => {
      const now = await this.writer();
      if (now?.token !== mine.token) throw this.taken(now);
    };
    await assertHeld();
    return { assertHeld, release: () => removeIfThere(this.store, WRITING) };
  }

  private taken(other: Writer | undefined): ServiceError {
    const who = other === undefined ? 'Somebody else' : `The service of ${other.data_dir} on ${other.host}`;
    const since = other === undefined ? '' : ` (since ${other.since})`;
    return new ServiceError(
      'conflict',
      `${who} writes backups to ${this.told} now${since}. Where that was cut short, remove the file ${WRITING} of the folder ` +
        '.gannet-backups there; services that run have places of their own.',
    );
  }

  private async writer(): Promise<Writer | undefined> {
    const bytes = await readWhole(this.store, WRITING, HEAD_BYTES_MAX);
    if (bytes === undefined) return undefined;
    const unknown = {
      token: '',
      host: 'an unknown machine',
      data_dir: 'an unknown data directory',
      since: 'an unknown time',
    };
    try {
      return { ...unknown, ...(JSON.parse(Buffer.from(bytes).toString('utf8')) as Partial<Writer>) };
    } catch {
      return unknown;
    }
  }

  /** Returns the names of the complete backups, in no order. */
  async names(): Promise<string[]> {
    const names: string[] = [];
    for await (const { path } of filesOf(this.store, CENTURY)) {
      const name = path.endsWith(END) ? path.slice(0, -END.length) : '';
      if (BACKUP_NAME.test(name)) names.push(name);
    }
    return names;
  }

  private async firstLine(name: string): Promise<string | undefined> {
    const file = await this.store.open(name + END);
    if (file === undefined) return undefined;
    let text = '';
    try {
      const end = Math.min(HEAD_BYTES_MAX, file.file.bytes);
      for await (const piece of file.pieces({ begin: 0, end })) text += Buffer.from(piece).toString('latin1');
    } finally {
      await file.close();
    }
    return Buffer.from(text.split('\n', 1)[0] ?? '', 'latin1').toString('utf8');
  }

  private orUndefined<Value>(read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      if (error instanceof OperatorError) return undefined;
      throw error;
    }
  }
}

export interface Occupation {
  /** Rejects with `conflict` if somebody else has occupied the place meanwhile. */
  readonly assertHeld: () => Promise<void>;
  readonly release: () => Promise<void>;
}

interface Writer {
  readonly token: string;
  readonly host: string;
  readonly data_dir: string;
  readonly since: string;
}

/** Time of a backup: in milliseconds if its summary is known; its name has seconds. */
export function timeOf({ name, summary }: StoredBackup): string {
  if (summary !== undefined) return summary.made_utc;
  return name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/u, '$1-$2-$3T$4:$5:$6.000Z');
}
