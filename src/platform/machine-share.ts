/**
 * The share of the machine that this process may use. A container, or a systemd unit, has limits that the system's
 * totals of memory and processors do not show: those of its control group (cgroup v1 or v2) and of the groups above it.
 * Read once, since what depends on it is decided when the process starts.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { mountsOf } from './mounts.js';

export interface MachineShare {
  readonly memoryBytes: number;
  /** At least 1; fractions are rounded up. */
  readonly processors: number;
  /** Undefined if the memory of the machine is the limit. */
  readonly memoryLimitedBy: 'control group' | undefined;
}

/** Returns the content of a file; undefined if it cannot be read. */
export type ReadText = (path: string) => string | undefined;

interface Machine {
  readonly memoryBytes: number;
  readonly processors: number;
}

/** A folder of a control group; `isUnified` is true for cgroup v2. */
interface GroupFolder {
  readonly path: string;
  readonly isUnified: boolean;
}

/** Default period of a quota of processor time, in microseconds. */
const PERIOD_DEFAULT = '100000';

let known: MachineShare | undefined;

export function machineShare(): MachineShare {
  return (known ??= shareOf({ memoryBytes: totalmem(), processors: availableParallelism() }, textIn));
}

/** Returns the share of the machine under the limits that `read` finds. */
export function shareOf({ memoryBytes, processors }: Machine, read: ReadText): MachineShare {
  const memoryLimits = groupFolders('memory', read).flatMap((folder) => memoryLimitsOf(folder, read));
  const quotas = groupFolders('cpu', read).map((folder) => quotaOf(folder, read));
  const bytes = Math.min(memoryBytes, ...memoryLimits);
  return {
    memoryBytes: bytes,
    processors: Math.max(1, Math.min(processors, ...quotas.map(Math.ceil))),
    memoryLimitedBy: bytes < memoryBytes ? 'control group' : undefined,
  };
}

/** Returns the folders of this process's control group and of those above it, as far as they are mounted. */
function groupFolders(controller: string, read: ReadText): readonly GroupFolder[] {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'));
  return mountsOf(read('/proc/self/mountinfo') ?? '').flatMap(({ root, at, type, options }) => {
    const isUnified = type === 'cgroup2';
    if (!isUnified && !(type === 'cgroup' && options.includes(controller))) return [];
    const own = groups.find((parts) => isOf(parts, isUnified ? '' : controller));
    if (own === undefined) return [];
    // A path may contain colons.
    const below = belowRoot(own.slice(2).join(':'), root);
    return foldersFrom(at, below).map((path) => ({ path, isUnified }));
  });
}

function isOf([, controllers = '']: readonly string[], controller: string): boolean {
  return controller === '' ? controllers === '' : controllers.split(',').includes(controller);
}

/**
 * Returns the path relative to the mounted root. That may be the container's own group, while `path` is as the host
 * sees it.
 */
function belowRoot(path: string, root: string): string {
  if (root === '/') return path;
  return path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : '';
}

function foldersFrom(at: string, below: string): string[] {
  const folders = [at];
  // The path of a group outside of the mount begins with `/..`.
  for (const part of below.split('/').filter((each) => each !== '' && each !== '..'))
    folders.push(join(folders.at(-1) ?? at, part));
  return folders;
}

function memoryLimitsOf({ path, isUnified }: GroupFolder, read: ReadText): number[] {
  // Beyond `memory.high` a process is throttled until it hardly progresses.
  const files = isUnified ? ['memory.max', 'memory.high'] : ['memory.limit_in_bytes'];
  return files.map((file) => limitIn(read(join(path, file))));
}

/** Returns the quota in processors. */
function quotaOf({ path, isUnified }: GroupFolder, read: ReadText): number {
  const [quota, period = PERIOD_DEFAULT] = isUnified
    ? (read(join(path, 'cpu.max'))?.trim().split(' ') ?? [])
    : [read(join(path, 'cpu.cfs_quota_us')), read(join(path, 'cpu.cfs_period_us'))];
  return limitIn(quota) / Number(period);
}

/** Returns the limit as a number: infinite for `max`, -1, an empty or missing text. */
function limitIn(text: string | undefined): number {
  const limit = Number(text?.trim() ?? '');
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The file does not exist on this system.
    return undefined;
  }
}
