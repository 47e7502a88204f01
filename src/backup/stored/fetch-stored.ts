/** Fetches a backup from a media store; every piece is compared with its checksum before any of it is in force. */
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, OperatorError, syncFile, writeFully } from '../../platform/index.js';
import { foldersOf } from '../description.js';
import { inParallel } from '../in-parallel.js';
import { inOrderOfMaking } from '../kept-backups.js';
import { toldNotRestored } from '../restore.js';
import type { Manifest, StoredFileOfBackup } from './manifest.js';
import { PieceStore } from './piece-store.js';
import { timeOf, type StoredBackups } from './stored-backups.js';

const FILES_AT_A_TIME = 4;
/** Number of pieces per file in memory. */
const PIECES_AT_A_TIME = 4;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Writes the backup into the folder `to`, which is created anew; it is on disk when this resolves. Without a name,
 * takes the backup made last, as of `nowUtc`. Rejects with an `OperatorError` that names what is missing or damaged;
 * `to` is removed then.
 */
export async function fetchStored(
  backups: StoredBackups,
  { name, nowUtc }: { readonly name: string | undefined; readonly nowUtc: string },
  to: string,
): Promise<Manifest> {
  const manifest = await backups.read(name ?? (await newest(backups, nowUtc)));
  const pieces = new PieceStore(backups.store, backups.told);
  await rm(to, { recursive: true, force: true });
  await makeFolder(to, FOLDER_MODE);
  try {
    await assertRoom(to, manifest);
    await inParallel(manifest.files, FILES_AT_A_TIME, (file) => write(pieces, file, join(to, file.path)));
    for (const folder of foldersOf(to, manifest.files)) await syncFile(folder);
    return manifest;
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    // Errors of the backup itself have their own messages.
    throw error instanceof OperatorError ? error : toldNotRestored(error, dirname(to));
  }
}

async function newest(backups: StoredBackups, nowUtc: string): Promise<string> {
  const last = inOrderOfMaking(await backups.all(), timeOf, nowUtc).at(-1);
  if (last === undefined) throw new OperatorError(`There are no backups in ${backups.told}.`);
  return last.name;
}

async function assertRoom(to: string, { summary: { bytes } }: Manifest): Promise<void> {
  const { bavail, bsize } = await statfs(to);
  if (bavail * bsize >= bytes) return;
  throw new OperatorError(
    `The backup needs ${bytes} bytes, but the disk of the data directory has only ${bavail * bsize} free. Nothing was changed.`,
  );
}

async function write(pieces: PieceStore, file: StoredFileOfBackup, at: string): Promise<void> {
  await makeFolder(dirname(at), FOLDER_MODE);
  const written = await open(at, 'wx', FILE_MODE);
  try {
    await inParallel(file.pieces.entries(), PIECES_AT_A_TIME, async ([place, digest]) => {
      const begin = place * file.piece_bytes;
      const bytes = Math.min(file.piece_bytes, file.bytes - begin);
      const content = await pieces.read(digest, bytes, file.path);
      await writeFully(written, content, begin);
    });
    await written.sync();
  } finally {
    await written.close();
  }
}
