/** The data directory before anything in it is opened: made, locked, and looked at for what a start must not go over. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { kernel } from '../native-bindings/index.js';
import { hasLists } from './index/index.js';
import { OperatorError } from './platform/index.js';

/** Makes the data directory and keeps other processes out of it; returns how to let go of it. Throws an `OperatorError`. */
export function openDataDirectory(dataDir: string): () => void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new OperatorError(`The data directory ${dataDir} cannot be written: ${(error as Error).message}.`);
  }
  const lock = kernel.lockFile(join(dataDir, 'lock'));
  if (lock !== null) return () => lock.release();
  throw new OperatorError(
    `The data directory ${dataDir} is in use by another process: stop that one first, or choose another directory.`,
  );
}

/** Throws an `OperatorError` where there are lists and nothing that says whose they are: before an empty catalogue is made. */
export function assertCatalogueStored(dataDir: string): void {
  const file = statSync(join(dataDir, 'system', 'data.mdb'), { throwIfNoEntry: false });
  if ((file?.size ?? 0) === 0) assertNoLists(dataDir, file === undefined ? 'is missing' : 'is empty');
}

/** The same for a catalogue without an account, as one that was made a moment ago. */
export function assertCatalogueFilled(dataDir: string, accounts: number): void {
  if (accounts === 0) assertNoLists(dataDir, 'knows no account');
}

function assertNoLists(dataDir: string, fault: string): void {
  if (!hasLists(dataDir)) return;
  throw new OperatorError(
    `The catalogue ${join(dataDir, 'system')} ${fault}, and there are lists beside it. ` +
      'Put system/ back from a copy, or run `gannet doctor --adopt-lists`, which makes the catalogue again from the lists.',
  );
}
