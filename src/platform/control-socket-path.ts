/** Path of the control socket of a data directory, on which the service listens and which the command line calls. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { OperatorError } from './operator-error.js';
import { systemReason } from './system-errors.js';

/** Bytes of a Unix socket address that every system allows (macOS: 104 with the terminating zero). */
const SOCKET_PATH_BYTES_MAX = 103;
const SOCKET = 'control.sock';
const FOLDER_PREFIX = 'gannet-';

/**
 * Returns `control.sock` in the data directory or, if that path is too long, the path that the service has written to
 * `control.path` there. Undefined if no service has written one. The path in the folder for temporary files is random,
 * because anybody could listen at a predictable one before the service does.
 */
export function controlSocketPath(dataDir: string): string | undefined {
  return inDataDirectory(dataDir) ?? writtenPath(dataDir);
}

/**
 * Returns the path for the service, creating the folder of a long path; `remove` removes it again. The caller holds the
 * lock of the data directory. Throws an `OperatorError` if the folder for temporary files, which only long paths need,
 * cannot be written.
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

/** Creates a folder that only its owner can enter. */
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

/** Removes the folder of a socket, which this service or a killed one has created. */
function removeFolder(socketPath: string | undefined): void {
  const folder = dirname(socketPath ?? '');
  if (!folder.startsWith(join(tmpdir(), FOLDER_PREFIX))) return;
  rmSync(folder, { recursive: true, force: true });
}
