/** What the demo remembers beside its data: which lists are complete, and its key, so that each run need not make one more. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderNow } from '../../platform/index.js';

export interface DemoState {
  /** Whole key; the file is readable by its owner only. */
  readonly key?: string;
  /** Records of each list that was imported to its end. */
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
  // The mode above counts only when the file is made.
  chmodSync(path, OWNER_ONLY);
}
