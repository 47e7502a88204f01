/**
 * Checks backups in a media store: every piece is read once, however many backups use it, and compared with its
 * checksum.
 */
import { OperatorError } from '../../platform/index.js';
import { noBackup, Problems, unreadable, type CheckedBackup, type CheckedBackups } from '../checked-backups.js';
import type { BackupWatch } from '../data-copy.js';
import { inParallel } from '../in-parallel.js';
import type { Manifest, StoredFileOfBackup } from './manifest.js';
import { PieceStore } from './piece-store.js';
import type { StoredBackups } from './stored-backups.js';

/** Number of pieces in memory. */
const PIECES_AT_A_TIME = 8;

/**
 * Checks one backup by its name, or all at the place. Backups removed meanwhile are omitted. Rejects with
 * `unprocessable` if there is none, and with `store-unavailable`.
 */
export async function checkStored(
  backups: StoredBackups,
  name: string | undefined,
  { job, signal }: BackupWatch,
): Promise<CheckedBackups> {
  const names = name === undefined ? await backups.names() : [name];
  const wanted = new Map<string, number>();
  for (const each of names) {
    const manifest = await readOrWhy(backups, each);
    if (manifest === undefined || typeof manifest === 'string') continue;
    for (const { digest, bytes } of piecesOf(manifest.files)) wanted.set(digest, bytes);
  }
  const pieces = new PieceStore(backups.store, backups.told);
  const faults = new Map<string, string>();
  let bytesRead = 0;
  await inParallel(wanted, PIECES_AT_A_TIME, async ([digest, bytes]) => {
    if (signal.aborted) throw signal.reason;
    const fault = await pieces.faultOf(digest, bytes);
    if (fault !== undefined) faults.set(digest, fault);
    bytesRead += bytes;
    job.advance(1);
  });
  const checked: CheckedBackup[] = [];
  for (const each of names.sort()) {
    const manifest = await readOrWhy(backups, each);
    if (manifest === undefined) continue;
    const path = backups.pathOf(each);
    checked.push(typeof manifest === 'string' ? unreadable(path, manifest) : told(path, manifest, faults));
  }
  if (checked.length === 0) throw noBackup(name === undefined ? backups.told : backups.pathOf(name));
  return { backups: checked, bytes_read: bytesRead };
}

/** Returns undefined if there is no such backup; a sentence if it cannot be read. */
async function readOrWhy(backups: StoredBackups, name: string): Promise<Manifest | string | undefined> {
  try {
    return await backups.readIfThere(name);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
}

function told(path: string, { summary, files }: Manifest, faults: ReadonlyMap<string, string>): CheckedBackup {
  const problems = new Problems();
  for (const file of files) {
    for (const { digest } of piecesOf([file])) {
      const fault = faults.get(digest);
      if (fault !== undefined) problems.add(`${file.path}: the piece ${digest} ${fault}`);
    }
  }
  return problems.of({ path, made_utc: summary.made_utc, files: files.length, bytes: summary.bytes });
}

function* piecesOf(files: readonly StoredFileOfBackup[]): Generator<{ digest: string; bytes: number }> {
  for (const { bytes, piece_bytes: each, pieces } of files) {
    for (const [place, digest] of pieces.entries()) yield { digest, bytes: Math.min(each, bytes - place * each) };
  }
}
