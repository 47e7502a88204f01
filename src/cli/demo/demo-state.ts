/** State of the demo next to its data: which lists are complete, and its key, so that not each run creates one. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderNow } from '../../platform/index.js';

export interface DemoState {
  /** The whole key; only the owner can read the file. */
  readonly key?: string;
  /** Number of records of each completely imported list. */
  readonly imported: Readonly<Record<string, number>>;
}

const FILE = 'demo.json';
const OWNER_ONLY = 0o600;

export function readDemoState(dataDir: string): DemoState {
  try {
    const state = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as DemoState;
    return typeof state.imported === 'object' ? state : { imported: {} };
  } catch {
    return { imported: {} };
  }
}

export function writeDemoState(dataDir: string, state: DemoState): void {
  makeFolderNow(dataDir);
  const path = join(dataDir, FILE);
  writeFileSync(path, `${JSON.stringify(state)}\n`, { mode: OWNER_ONLY });
  // The mode above applies only when the file is created.
  chmodSync(path, OWNER_ONLY);
}
