/**
 * Data of earlier releases beside the lists, brought up to the formats of this one before anything of them is in use: each in one transaction, one after the
 * other, with a line in the log before and behind. Lists are brought up when they are opened.
 */
import { join } from 'node:path';
import { FEATURES } from './features.js';
import {
  dueUpgrade,
  openEnvironment,
  type DueUpgrade,
  type EnvironmentKind,
  type ServiceLogger,
} from './platform/index.js';

const MEBIBYTE = 2 ** 20;
/** What a slow disk and a slow step take for what is to be made anew; nothing else can be told meanwhile. */
const MS_A_MEBIBYTE = 1000;
const MS_MIN = 60_000;

interface Kept {
  /** From the data directory. */
  readonly path: string;
  readonly kind: EnvironmentKind;
}

export interface FoundUpgrade extends Kept, DueUpgrade {}

function keptBesideLists(): Kept[] {
  const ofFeatures = FEATURES.flatMap(({ environments = [] }) => environments);
  return [{ path: 'system', kind: 'system' }, ...ofFeatures.map(({ path, format }) => ({ path, kind: format }))];
}

/** Reads only. Throws `FormatError` where this release does not know one of them: then none is touched. */
export function dueUpgrades(dataDir: string, kept: readonly Kept[] = keptBesideLists()): FoundUpgrade[] {
  return kept.flatMap((each) => {
    const due = dueUpgrade(join(dataDir, each.path), each.kind);
    return due === undefined ? [] : [{ ...each, ...due }];
  });
}

export interface UpgradeWatch {
  readonly log: Pick<ServiceLogger, 'info'>;
  /** The start goes on for so long at most, and says nothing meanwhile. */
  readonly takesUpTo: (ms: number) => void;
}

/** Throws as `dueUpgrades`, and what a step or the disk throws: what was brought up before stays so, and the next start goes on. */
export async function bringUp(
  dataDir: string,
  { log, takesUpTo }: UpgradeWatch,
  kept?: readonly Kept[],
): Promise<void> {
  for (const { path, kind, from, to, bytes } of dueUpgrades(dataDir, kept)) {
    log.info({ path, from, to, bytes }, 'Data of an earlier release are brought up to the format of this one');
    takesUpTo(MS_MIN + (bytes / MEBIBYTE) * MS_A_MEBIBYTE);
    const beganMs = performance.now();
    await openEnvironment(join(dataDir, path), { kind }).close();
    log.info({ path, to, ms: Math.round(performance.now() - beganMs) }, 'They are of the format of this release');
  }
}
