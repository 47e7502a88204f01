/**
 * Recognizes damaged data files, and sets aside those that can be created anew. LMDB reports most damage itself, since
 * its build here checks every page (`native-bindings/lmdb-js`); files that it cannot open safely are found before, by
 * their meta pages.
 */
import { closeSync, existsSync, fstatSync, openSync, renameSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ServiceError } from './errors.js';
import { systemCode } from './system-code.js';
import { readFullySync } from './whole-bytes.js';

/** A data file that cannot be read as a whole. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';

  constructor(path: string, what: string) {
    super(`${path} is damaged: ${what}`);
  }
}

/**
 * LMDB's codes for a page of the wrong kind, a page that does not exist, a file that is not LMDB's, and transactions
 * that met one of these.
 */
const DAMAGE_CODES: ReadonlySet<unknown> = new Set([-30796, -30797, -30793, -30794, -30787, -30782]);
/** Code of a transaction that could not begin. */
const EINVAL = 22;
const SERVICE_CODES: ReadonlySet<unknown> = new Set(['storage-damaged', 'list-damaged']);

/** True if the error says that a data file is damaged, also if it comes from another thread. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedFileError) return true;
  if (error instanceof ServiceError) return SERVICE_CODES.has(error.code);
  if (!(error instanceof Error)) return false;
  return DAMAGE_CODES.has((error as Error & { readonly code?: unknown }).code) || lmdbErrno(error) === EINVAL;
}

/**
 * Texts of glibc and musl for system errors whose number LMDB passes on as the code. The text is checked because exit
 * statuses of programs and codes of a DOMException are numbers, too.
 */
const LMDB_TEXTS: ReadonlyMap<unknown, RegExp> = new Map([
  [5, /input\/output error|i\/o error/i],
  [19, /no such device/i],
  [EINVAL, /invalid argument/i],
  [107, /transport endpoint is not connected|socket not connected/i],
  [116, /stale file handle/i],
  [121, /remote i\/o error/i],
]);

/** Returns the number of the system error that LMDB met; undefined for every other error. */
function lmdbErrno(error: Error): number | undefined {
  const { code, cmd } = error as Error & { readonly code?: unknown; readonly cmd?: unknown };
  // `cmd` marks a program that failed; its message has whatever it wrote.
  if (error.name !== 'Error' || cmd !== undefined) return undefined;
  return LMDB_TEXTS.get(code)?.test(error.message) === true ? (code as number) : undefined;
}

/** System errors that say that the disk reports an error or is gone. */
const UNREADABLE_CODES: ReadonlySet<unknown> = new Set(['EIO', 'ENODEV', 'ENOTCONN', 'ESTALE', 'EREMOTEIO']);
/** Calls on files; some of these codes also occur on connections. */
const FILE_CALLS: ReadonlySet<string> = new Set([
  'open',
  'read',
  'fstat',
  'stat',
  'lstat',
  'scandir',
  'mkdir',
  'access',
]);

/**
 * True if the error says that the disk could not be read. No file is known to be damaged then, and a retry may succeed.
 */
export function isUnreadable(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ServiceError) return false;
  const { syscall } = error as NodeJS.ErrnoException;
  if (UNREADABLE_CODES.has(systemCode(error))) return syscall === undefined || FILE_CALLS.has(syscall);
  const errno = lmdbErrno(error);
  return errno !== undefined && errno !== EINVAL;
}

/**
 * True if reading may succeed later, also if the error comes from another thread or was made for clients: a
 * `ServiceError` with a retry time.
 */
export function mayBeReadAgain(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'storage-damaged' && error.retryAfterSeconds !== undefined;
  return isUnreadable(error);
}

/**
 * Returns `storage-damaged`, or `not-ready` for an unreadable segment, if the error means that; every other error
 * unchanged.
 */
export function asDamageError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (isUnreadableSegment(error)) {
    const detail =
      'The index of the list could not be read from the disk, and is being rebuilt from the records; try again soon.';
    return new ServiceError('not-ready', detail, { retryAfterSeconds: 1, cause: error });
  }
  if (isUnreadable(error)) {
    const detail =
      'The disk reports an error when a data file is opened or read: check the disk. The log of the service has the error.';
    return new ServiceError('storage-damaged', detail, { cause: error, retryAfterSeconds: 1 });
  }
  if (!isDamage(error)) return error;
  const detail = 'A data file that this request needs is damaged. The log of the service names it.';
  return new ServiceError('storage-damaged', detail, { cause: error });
}

function isUnreadableSegment(error: unknown): boolean {
  return error instanceof Error && error.name === 'KernelError' && (error as { code?: unknown }).code === 'unreadable';
}

const ASIDE = '.damaged-';

/**
 * Returns what was set aside from these folders and still exists, as paths relative to the data directory. Folders that
 * cannot be read count as empty.
 */
export async function setAsideOf(dataDir: string, folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const around = dirname(folder);
    const names = await readdir(join(dataDir, around)).catch(() => []);
    found.push(...names.filter((name) => name.startsWith(basename(folder) + ASIDE)).map((name) => join(around, name)));
  }
  return found;
}

/** Renames what is damaged to `<path>.damaged-<time>`, so that it can be created anew. Returns the new path. */
export function setAside(path: string, now = new Date()): string {
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  let target = `${path}${ASIDE}${time}`;
  for (let number = 2; existsSync(target); number += 1) target = `${path}${ASIDE}${time}-${number}`;
  renameSync(path, target);
  return target;
}

const META_READS_MAX = 20;
const MAGIC = 0xbeefc0de;
/** LMDB's own version, and that of files written by its build here (`kSealedVersion`). */
const DATA_VERSION = 2;
const SEALED_VERSION = 0x4753;
const META_FLAG = 0x08;
const PAGE_HEADER_BYTES = 24;
const META_BYTES = 192;
const PAGE_BYTES = { min: 512, max: 65_536 };
const PAGES_MAX = 2n ** 47n;
const NO_PAGE = 2n ** 64n - 1n;
const LAST_64_BITS = 2n ** 64n - 1n;

/**
 * Reads the two meta pages of an environment's file. Throws DamagedFileError if LMDB must not open it. A missing or
 * empty file is accepted: LMDB is about to create it.
 */
export function checkEnvironmentFile(path: string): void {
  if (!existsSync(path)) return;
  for (let reads = 1; ; reads += 1) {
    try {
      checkMetaPages(path);
      return;
    } catch (error) {
      // Another thread may be writing a meta page.
      if (!(error instanceof DamagedFileError) || reads === META_READS_MAX) throw error;
    }
  }
}

function checkMetaPages(path: string): void {
  const file = openSync(path, 'r');
  try {
    const first = readMeta(file, 0, path);
    if (first === undefined) return;
    const second = readMeta(file, first.pageBytes, path);
    if (second?.pageBytes !== first.pageBytes)
      throw new DamagedFileError(path, 'its two meta pages do not fit each other');
  } finally {
    closeSync(file);
  }
}

/**
 * True if the file of an environment ends before its last page, or its meta pages are damaged. Throws system errors.
 */
export function isCut(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const first = readMeta(file, 0, path);
    if (first === undefined) return true;
    const second = readMeta(file, first.pageBytes, path);
    const newest = second !== undefined && second.commit > first.commit ? second : first;
    return BigInt(size) < (newest.lastPage + 1n) * BigInt(newest.pageBytes);
  } catch (error) {
    if (error instanceof DamagedFileError) return true;
    throw error;
  } finally {
    closeSync(file);
  }
}

interface MetaPage {
  readonly pageBytes: number;
  readonly lastPage: bigint;
  /** Number of the commit. */
  readonly commit: bigint;
}

/** Returns undefined if the file is empty. */
function readMeta(file: number, offset: number, path: string): MetaPage | undefined {
  const bytes = Buffer.alloc(PAGE_HEADER_BYTES + META_BYTES);
  const got = readFullySync(file, bytes, offset);
  if (got === 0 && offset === 0) return undefined;
  if (got < bytes.length) throw new DamagedFileError(path, 'it ends within its meta pages');
  const flags = bytes.readUInt16LE(18);
  const meta = bytes.subarray(PAGE_HEADER_BYTES);
  const version = meta.readUInt32LE(4) & 0xffff;
  const isKnown = version === DATA_VERSION || version === SEALED_VERSION;
  if ((flags & META_FLAG) === 0 || meta.readUInt32LE(0) !== MAGIC || !isKnown)
    throw new DamagedFileError(path, 'a meta page is not one of this storage');
  const pageBytes = meta.readUInt32LE(24);
  const isPageSize = pageBytes >= PAGE_BYTES.min && pageBytes <= PAGE_BYTES.max && (pageBytes & (pageBytes - 1)) === 0;
  if (!isPageSize || !isSound(meta, version === SEALED_VERSION))
    throw new DamagedFileError(path, 'a meta page is not as it was written');
  return { pageBytes, lastPage: meta.readBigUInt64LE(120), commit: meta.readBigUInt64LE(128) };
}

/**
 * Same checks as MetaIsSound of native-bindings/lmdb-js/sound_pages.h: u64 at 16 map size, 64 free root, 112 main root,
 * 120 last page, …
 */
function isSound(meta: Buffer, isSealed: boolean): boolean {
  const [freeRoot, mainRoot, last] = [64, 112, 120].map((at) => meta.readBigUInt64LE(at)) as [bigint, bigint, bigint];
  if (last < 1n || last > PAGES_MAX || meta.readBigUInt64LE(16) > PAGES_MAX) return false;
  const isRoot = (root: bigint) => root === NO_PAGE || (root >= 2n && root <= last);
  if (!isRoot(freeRoot) || !isRoot(mainRoot)) return false;
  return !isSealed || meta.readBigUInt64LE(144) === metaSum(meta);
}

/** Same checksum as MetaSum of native-bindings/lmdb-js/sound_pages.h. */
function metaSum(meta: Buffer): bigint {
  let sum = 0x2545f4914f6cdd1dn;
  for (let at = 16; at < 144; at += 8) {
    sum = ((sum ^ meta.readBigUInt64LE(at)) * 0x9fb21c651e98df25n) & LAST_64_BITS;
    sum ^= sum >> 29n;
  }
  return sum | 1n;
}
