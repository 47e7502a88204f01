/**
 * Upgrades the environments next to the lists (catalogue and features) to the formats of this release, before any of
 * them is used. Each is upgraded in one transaction, one after the other, and logged before and after. Lists are
 * upgraded when they are opened.
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
/** Time allowed for an upgrade on a slow disk, by the size of the data; no progress can be reported meanwhile. */
const MS_A_MEBIBYTE = 1000;
const MS_MIN = 60_000;

interface Kept {
  /** Path relative to the data directory. */
  readonly path: string;
  readonly kind: EnvironmentKind;
}

export interface FoundUpgrade extends Kept, DueUpgrade {}

function keptBesideLists(): Kept[] {
  const ofFeatures = FEATURES.flatMap(({ environments = [] }) => environments);
  return [{ path: 'system', kind: 'system' }, ...ofFeatures.map(({ path, format }) => ({ path, kind: format }))];
}

/**
 * Returns the environments to be upgraded. Only reads. Throws `FormatError` if this release does not know the format of
 * one; then none is changed.
 */
export function dueUpgrades(dataDir: string, kept: readonly Kept[] = keptBesideLists()): FoundUpgrade[] {
  return kept.flatMap((each) => {
    const due = dueUpgrade(join(dataDir, each.path), each.kind);
    return due === undefined ? [] : [{ ...each, ...due }];
  });
}

export interface UpgradeWatch {
  readonly log: Pick<ServiceLogger, 'info'>;
  /** Reports that the start may take up to `ms` longer, without a sign of progress meanwhile. */
  readonly takesUpTo: (ms: number) => void;
}

/**
 * Upgrades all due environments. Throws what `dueUpgrades`, a step or the disk throws: what was upgraded before stays
 * upgraded, and the next start continues.
 */
export async function bringUp(
  dataDir: string,
  { log, takesUpTo }: UpgradeWatch,
  kept?: readonly Kept[],
): Promise<void> {
  for (const { path, kind, from, to, bytes } of dueUpgrades(dataDir, kept)) {
    log.info({ path, from, to, bytes }, 'Upgrading data of an earlier release to the format of this one');
    takesUpTo(MS_MIN + (bytes / MEBIBYTE) * MS_A_MEBIBYTE);
    const beganMs = performance.now();
    await openEnvironment(join(dataDir, path), { kind }).close();
    log.info({ path, to, ms: Math.round(performance.now() - beganMs) }, 'Upgraded to the format of this release');
  }
}
