/** Ends a start whose catalogue is damaged, with a message that says what can be restored and how. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage, OperatorError } from './platform/index.js';

/**
 * Runs `open`, which opens a part of `data/system`. Throws `OperatorError` if that part is damaged; rethrows other
 * errors.
 */
export async function openSystemPart<Part>(dataDir: string, open: () => Part | Promise<Part>): Promise<Part> {
  try {
    assertNotEmptied(dataDir);
    return await open();
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw damagedSystem(dataDir, (error as Error).message);
  }
}

/**
 * Throws if the catalogue file is empty while there are lists. LMDB takes an empty file for a new environment, but next
 * to lists it means that the catalogue was lost.
 */
function assertNotEmptied(dataDir: string): void {
  const file = join(dataDir, 'system', 'data.mdb');
  const lists = join(dataDir, 'lists');
  if (!existsSync(file) || statSync(file).size > 0 || !existsSync(lists) || readdirSync(lists).length === 0) return;
  throw damagedSystem(dataDir, 'data.mdb is empty');
}

function damagedSystem(dataDir: string, reason: string): OperatorError {
  return new OperatorError(
    `The catalogue ${join(dataDir, 'system')} is damaged (${reason}). Nothing was changed. Restore this folder from a backup: ` +
      'it holds accounts, keys, settings of lists and webhooks. Without a backup, move it away and run `gannet doctor --adopt-lists`, ' +
      "which reads the definitions of the lists from their own stores. The lists' records are not affected.",
  );
}
