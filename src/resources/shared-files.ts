/**
 * Keeps files that are read in several ways (words of a video, transcript, frames, each with its own queue), so that
 * each is fetched only once. A file that another reading will need is kept on disk without a name, so that nothing is
 * left of it if the process dies, for as long as it may be needed and there is room. A reading that finds no kept file
 * fetches it. Main thread only.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { ReadKind } from '../extracts/index.js';
import { beforeEndOf, namelessFile, readFully } from '../platform/index.js';
import type { FetchedFile } from './fetched-file.js';

export interface SharedFilesOptions {
  /** Folder for the files. Created if missing. */
  readonly folder: string;
  /** Limit for all files. */
  readonly bytesMax: number;
  /** Limit on files, each of which has an open descriptor. */
  readonly filesMax: number;
  /** Limit on the time a file is kept: the awaited reading may never come. */
  readonly keptMsMax: number;
}

/** Ways to read a file: words, frames, or a transcript. */
export type Reading = ReadKind | 'transcript';

export interface SharedFileWanted {
  readonly account: string;
  readonly url: string;
  /** A file fetched before this time may have changed. */
  readonly sinceMs: number;
  /** Waits until there is room for so many bytes in memory. */
  readonly room: (bytes: number) => Promise<void>;
  /** True if it may wait long for room: other readings then do not wait for it. */
  readonly isSlow: boolean;
  /** Fetches the file with that room, unless it still has these validators. Unconditional if they are undefined. */
  readonly fetch: (room: SharedFileWanted['room'], known: KeptValidators | undefined) => Promise<FetchedFile>;
  /** How the file is read, and how else a file with this hash will be read. */
  readonly as: Reading;
  readonly awaitedAs: (hash: string) => Promise<readonly Reading[]>;
  readonly signal: AbortSignal;
}

type Fetched = Extract<FetchedFile, { kind: 'bytes' }>;
export type KeptValidators = Fetched['validators'];

interface Kept {
  readonly file: FileHandle;
  readonly bytes: number;
  readonly hash: string;
  readonly validators: KeptValidators;
  readonly fetchedMs: number;
  readonly readAs: Set<Reading>;
  /** Readings expected by any of the requests. */
  readonly awaited: Set<Reading>;
  readonly timer: NodeJS.Timeout;
}

interface UnderWay {
  readonly end: Promise<unknown>;
  /** Resolves when it has to wait for room. */
  readonly waits: Promise<void>;
}

export class SharedFiles {
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, UnderWay>();
  #keptBytes = 0;

  constructor(
    private readonly options: SharedFilesOptions,
    private readonly now = Date.now,
  ) {}

  /** Returns the file, kept or fetched. Rejects like `fetch` and `room`, and with the signal's reason. */
  async fetch(wanted: SharedFileWanted): Promise<FetchedFile> {
    const key = JSON.stringify([wanted.account, wanted.url]);
    // Waits for a fetch of the same file, whose result can be used.
    for (let other = this.#underWay.get(key); other !== undefined; other = this.#underWay.get(key)) {
      const isOver = other.end.then(() => true);
      const isToWait = wanted.isSlow ? isOver : Promise.race([isOver, other.waits.then(() => false)]);
      if (!(await beforeEndOf(wanted.signal, isToWait))) break;
    }
    let tellWaits = (): void => undefined;
    const waits = new Promise<void>((resolve) => (tellWaits = resolve));
    const room = async (bytes: number) => {
      const timer = setImmediate(tellWaits);
      await wanted.room(bytes);
      clearImmediate(timer);
    };
    const work = this.#fetched(key, { ...wanted, room });
    const underWay = { end: work.catch(() => undefined), waits };
    this.#underWay.set(key, underWay);
    try {
      return await work;
    } finally {
      if (this.#underWay.get(key) === underWay) this.#underWay.delete(key);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((key) => this.#drop(key)));
  }

  async #fetched(key: string, wanted: SharedFileWanted): Promise<FetchedFile> {
    const { fetch, room, sinceMs } = wanted;
    const kept = this.#kept.get(key);
    const isNew = kept !== undefined && kept.fetchedMs >= sinceMs;
    const known = kept !== undefined && Object.keys(kept.validators).length > 0 ? kept.validators : undefined;
    const fetchedMs = this.now();
    const fetched = isNew ? undefined : await fetch(room, known);
    if (kept !== undefined && (fetched === undefined || (known !== undefined && fetched.kind === 'same')))
      return (await this.#read(key, kept, wanted)) ?? fetch(room, undefined);
    await this.#drop(key);
    if (fetched?.kind !== 'bytes') return fetched ?? fetch(room, undefined);
    const hash = hashOf(fetched.bytes);
    await this.#keep(key, { ...fetched, hash }, { ...wanted, fetchedMs });
    return { ...fetched, hash };
  }

  /** Reads a kept file. Undefined if the disk does not return what was written. */
  async #read(key: string, kept: Kept, { as, awaitedAs, room }: SharedFileWanted): Promise<FetchedFile | undefined> {
    const { awaited, file, hash, readAs, validators } = kept;
    await room(kept.bytes);
    const bytes = await bytesOf(file, kept.bytes);
    const isWhole = bytes !== undefined && hashOf(bytes) === hash;
    readAs.add(as);
    for (const each of await awaitedAs(hash)) awaited.add(each);
    const isAwaited = [...awaited].some((each) => !readAs.has(each));
    // Another file may have replaced it meanwhile.
    if (!isWhole || !isAwaited) await this.#drop(key, kept);
    return isWhole ? { kind: 'bytes', bytes, validators, hash } : undefined;
  }

  async #keep(
    key: string,
    { bytes, validators, hash }: Fetched & { readonly hash: string },
    { as, awaitedAs, fetchedMs }: Pick<SharedFileWanted, 'as' | 'awaitedAs'> & { readonly fetchedMs: number },
  ): Promise<void> {
    const { folder, bytesMax, filesMax, keptMsMax } = this.options;
    const awaited = new Set(await awaitedAs(hash));
    if (awaited.size === 0) return;
    // Earlier files are read earlier, so a new one is not kept if there is no room.
    if (this.#keptBytes + bytes.length > bytesMax || this.#kept.size >= filesMax) return;
    this.#keptBytes += bytes.length;
    try {
      const file = await namelessFile(folder, bytes);
      const timer = setTimeout(() => void this.#drop(key, kept), keptMsMax).unref();
      const readAs = new Set([as]);
      const kept: Kept = { file, bytes: bytes.length, hash, validators, fetchedMs, readAs, awaited, timer };
      // A reading that did not wait may have kept the same file.
      const before = this.#kept.get(key);
      this.#kept.set(key, kept);
      if (before !== undefined) await this.#letGo(before);
    } catch {
      // If the disk is full, the file is used without being kept.
      this.#keptBytes -= bytes.length;
    }
  }

  /** `only` protects a file that replaced the given one. */
  async #drop(key: string, only = this.#kept.get(key)): Promise<void> {
    const kept = this.#kept.get(key);
    if (kept === undefined || kept !== only) return;
    this.#kept.delete(key);
    await this.#letGo(kept);
  }

  async #letGo({ bytes, file, timer }: Kept): Promise<void> {
    this.#keptBytes -= bytes;
    clearTimeout(timer);
    await file.close();
  }
}

/** Undefined if they cannot be read. */
async function bytesOf(file: FileHandle, length: number): Promise<Uint8Array | undefined> {
  const bytes = Buffer.allocUnsafeSlow(length);
  try {
    return (await readFully(file, bytes, 0)) < length ? undefined : bytes;
  } catch {
    return undefined;
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
