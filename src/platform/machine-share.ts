/**
 * What of the machine this process may have. A container, or a unit of systemd, has limits that the system's counts of memory and
 * processors say nothing of: they are those of its control groups (cgroups, of both kinds), and of the ones above them. Read once, for
 * what follows from them is decided when the process starts.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { mountsOf } from './mounts.js';

export interface MachineShare {
  readonly memoryBytes: number;
  /** At least 1; a part of one is one. */
  readonly processors: number;
  /** Undefined: the machine has no more. */
  readonly memoryLimitedBy: 'control group' | undefined;
}

/** The content of a file, undefined where there is none. */
export type ReadText = (path: string) => string | undefined;

interface Machine {
  readonly memoryBytes: number;
  readonly processors: number;
}

/** A folder of a control group. */
interface GroupFolder {
  readonly path: string;
  readonly isUnified: boolean;
}

/** Of a quota of processor time, in microseconds. */
const PERIOD_DEFAULT = '100000';

let known: MachineShare | undefined;

export function machineShare(): MachineShare {
  return (known ??= shareOf({ memoryBytes: totalmem(), processors: availableParallelism() }, textIn));
}

/** What is left of the machine by the limits that `read` finds. */
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

/** That of this process and those above it, as far as they are seen from here. */
function groupFolders(controller: string, read: ReadText): readonly GroupFolder[] {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'));
  return mountsOf(read('/proc/self/mountinfo') ?? '').flatMap(({ root, at, type, options }) => {
    const isUnified = type === 'cgroup2';
    if (!isUnified && !(type === 'cgroup' && options.includes(controller))) return [];
    const own = groups.find((parts) => isOf(parts, isUnified ? '' : controller));
    if (own === undefined) return [];
    // A path may have colons.
    const below = belowRoot(own.slice(2).join(':'), root);
    return foldersFrom(at, below).map((path) => ({ path, isUnified }));
  });
}

function isOf([, controllers = '']: readonly string[], controller: string): boolean {
  return controller === '' ? controllers === '' : controllers.split(',').includes(controller);
}

/** What is mounted may be the group of the container itself, whose path is told as the machine sees it. */
function belowRoot(path: string, root: string): string {
  if (root === '/') return path;
  return path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : '';
}

function foldersFrom(at: string, below: string): string[] {
  const folders = [at];
  // A group outside of what is mounted begins with `/..`.
  for (const part of below.split('/').filter((each) => each !== '' && each !== '..'))
    folders.push(join(folders.at(-1) ?? at, part));
  return folders;
}

function memoryLimitsOf({ path, isUnified }: GroupFolder, read: ReadText): number[] {
  // Beyond `memory.high` a process is slowed down until it hardly goes on.
  const files = isUnified ? ['memory.max', 'memory.high'] : ['memory.limit_in_bytes'];
  return files.map((file) => limitIn(read(join(path, file))));
}

/** In processors. */
function quotaOf({ path, isUnified }: GroupFolder, read: ReadText): number {
  const [quota, period = PERIOD_DEFAULT] = isUnified
    ? (read(join(path, 'cpu.max'))?.trim().split(' ') ?? [])
    : [read(join(path, 'cpu.cfs_quota_us')), read(join(path, 'cpu.cfs_period_us'))];
  return limitIn(quota) / Number(period);
}

/** `max`, -1, nothing and what is no number are no limit. */
function limitIn(text: string | undefined): number {
  const limit = Number(text?.trim() ?? '');
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // There is no such thing here.
    return undefined;
  }
}
