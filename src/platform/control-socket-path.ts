/** Where the control socket of a data directory is: the service listens there, the command line calls there. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { OperatorError } from './operator-error.js';
import { systemReason } from './system-errors.js';

/** What the address of a Unix socket holds on every system (macOS: 104 bytes with the terminating zero). */
const SOCKET_PATH_BYTES_MAX = 103;
const SOCKET = 'control.sock';
const FOLDER_PREFIX = 'gannet-';

/**
 * `control.sock` in the data directory; where that path is too long, what the service has written to `control.path` there.
 * Undefined where no service has. No name in the folder for temporary files can be guessed: anybody could listen there before.
 */
export function controlSocketPath(dataDir: string): string | undefined {
  return inDataDirectory(dataDir) ?? writtenPath(dataDir);
}

/**
 * The same for the service, which makes what is missing; `remove` takes it away again. The caller holds the lock of the data directory. Throws
 * an `OperatorError` where the folder for temporary files, which is needed for long paths alone, takes nothing.
 */
export function makeControlSocketPath(dataDir: string): { readonly path: string; readonly remove: () => void } {
  const path = inDataDirectory(dataDir);
  if (path !== undefined) return { path, remove: () => undefined };
  removeFolder(writtenPath(dataDir));
  const made = join(temporaryFolder(dataDir), SOCKET);
  writeFileSync(pathFile(dataDir), made, { mode: 0o600 });
  return {
    path: made,
    remove: () => {
      rmSync(pathFile(dataDir), { force: true });
      removeFolder(made);
    },
  };
}

/** Only its owner can reach what is in it. */
function temporaryFolder(dataDir: string): string {
  try {
    return mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  } catch (error) {
    throw new OperatorError(
      `The path of the data directory ${dataDir} is too long for that of a socket, and the folder for temporary files ${tmpdir()} takes none: ` +
        `${systemReason(error)}. Choose a shorter path, or another folder by TMPDIR.`,
    );
  }
}

function inDataDirectory(dataDir: string): string | undefined {
  const path = join(resolve(dataDir), SOCKET);
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX ? path : undefined;
}

function pathFile(dataDir: string): string {
  return join(resolve(dataDir), 'control.path');
}

function writtenPath(dataDir: string): string | undefined {
  try {
    return readFileSync(pathFile(dataDir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Of this service or of one that was killed. */
function removeFolder(socketPath: string | undefined): void {
  const folder = dirname(socketPath ?? '');
  if (!folder.startsWith(join(tmpdir(), FOLDER_PREFIX))) return;
  rmSync(folder, { recursive: true, force: true });
}
