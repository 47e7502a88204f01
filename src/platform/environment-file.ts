/** Reads the two meta pages of an environment's file, as written by lmdb-js, before it is opened. */
import { closeSync, openSync } from 'node:fs';
import { readFullySync } from './whole-bytes.js';

const MAGIC = 0xbeefc0de;
const PAGE_HEADER_BYTES = 24;
/** Offsets in a meta page, as in `MDB_meta` of lmdb-js. */
const PAGE_SIZE_AT = PAGE_HEADER_BYTES + 24;
const FLAGS_AT = PAGE_HEADER_BYTES + 28;
const TRANSACTION_AT = PAGE_HEADER_BYTES + 128;
const META_BYTES = PAGE_HEADER_BYTES + 144;
const PAGE_SIZE_MAX = 65_536;
/** Flag of a commit that was visible before it was synced. */
const OVERLAPPING_SYNC = 0x1000;

interface MetaPage {
  readonly pageBytes: number;
  readonly flags: number;
  readonly transaction: bigint;
}

/**
 * True if the last commit was made by a release with overlapping syncs. Returns false for a missing file or one that is
 * not LMDB's, which opening it reports.
 */
export function endsInOverlappingSync(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    const first = readMeta(file, 0);
    const second = first === undefined ? undefined : readMeta(file, first.pageBytes);
    if (first === undefined || second === undefined) return false;
    const last = first.transaction >= second.transaction ? first : second;
    return (last.flags & OVERLAPPING_SYNC) !== 0;
  } finally {
    closeSync(file);
  }
}

function readMeta(file: number, at: number): MetaPage | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readFullySync(file, bytes, at) < META_BYTES) return undefined;
  const pageBytes = bytes.readUInt32LE(PAGE_SIZE_AT);
  const isMeta = bytes.readUInt32LE(PAGE_HEADER_BYTES) === MAGIC && pageBytes > 0 && pageBytes <= PAGE_SIZE_MAX;
  if (!isMeta) return undefined;
  return { pageBytes, flags: bytes.readUInt16LE(FLAGS_AT), transaction: bytes.readBigUInt64LE(TRANSACTION_AT) };
}
