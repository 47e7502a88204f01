/**
 * How much of what the system allows this process is left: descriptors, memory maps, address space. LMDB as lmdb-js has it ends the
 * process where a file or a map that it needs is refused, so there has to be room before it is asked. Where the system tells no
 * limits (other than Linux, and a `chroot` without `/proc`) there is always room.
 */
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { ServiceError } from './errors.js';
import { pageBytes, procSelf } from './proc-self.js';

export interface Room {
  readonly descriptors: number;
  readonly maps: number;
  readonly addressBytes: number;
}

export type Resource = keyof Room;

export interface ResourceUse {
  readonly resource: Resource;
  readonly used: number;
  readonly max: number;
}

const NAMES: Readonly<Record<Resource, string>> = {
  descriptors: 'descriptors (ulimit -n)',
  maps: 'memory maps (vm.max_map_count)',
  addressBytes: 'bytes of address space (ulimit -v)',
};
/** As `/proc/…/limits` has them; maps are allowed to all processes alike. */
const LIMIT_NAMES: Readonly<Partial<Record<Resource, string>>> = {
  descriptors: 'Max open files',
  addressBytes: 'Max address space',
};
/** What a process may address where nothing else limits it: 47 bits. */
const ADDRESS_BYTES_MAX = 2 ** 47;
const MAPS_MAX = '/proc/sys/vm/max_map_count';
const COUNTED_ANEW_MS = 500;
/** Counting takes a millisecond for some thousand maps; where nothing is near its limit, it may take this part of the time. */
const COUNTING_PART_MAX = 1 / 400;
const COUNTED_ANEW_MS_MAX = 10_000;
/** Of a limit: beyond it is counted as often as above. */
const NEAR_PART = 0.5;
const RETRY_AFTER_SECONDS = 5;
/** Descriptors that opening one environment of LMDB takes, and some for what other threads open at the same moment. */
const PROBED_DESCRIPTORS = 12;
/** Address space that is left to threads and their heaps, whatever is mapped. */
const ADDRESS_BYTES_RESERVED = 2 ** 30;
/** A map that is outgrown is made anew, twice as large as what is needed, and stays beside the new one. */
const MAP_GROWTH = 4;

/** What is used and allowed now; empty where the system does not tell. Throws `resources-exhausted` where there is no descriptor to ask it with. */
export function processLimits(): readonly ResourceUse[] {
  try {
    return limitsNow();
  } catch (error) {
    throw asResourceError(error);
  }
}

function limitsNow(): readonly ResourceUse[] {
  const limits = toldLimits();
  const maps = procSelf('maps');
  if (limits === undefined || maps === undefined) return [];
  return [
    descriptorsIn(limits),
    // A sandbox may tell the process about itself and nothing about the system.
    ...(existsSync(MAPS_MAX)
      ? [{ resource: 'maps', used: linesIn(maps), max: Number(readFileSync(MAPS_MAX, 'utf8')) } as const]
      : []),
    { resource: 'addressBytes', used: mappedBytes(), max: limitOf(limits, 'Max address space') },
  ];
}

/** The same with what process `pid` is allowed to use in the place of what this one is; undefined where the system does not tell. */
export function limitsOfProcess(pid: number): readonly ResourceUse[] | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
    return limitsNow().map((use) => {
      const name = LIMIT_NAMES[use.resource];
      return name === undefined ? use : { ...use, max: limitOf(limits, name) };
    });
  } catch {
    // It has ended, or hides from other users: what is said is of this process then.
    return undefined;
  }
}

/** The first of them alone; undefined where the system does not tell. */
export function descriptorUse(): ResourceUse | undefined {
  const limits = toldLimits();
  return limits === undefined ? undefined : descriptorsIn(limits);
}

function toldLimits(): string | undefined {
  return procSelf('limits')?.toString('latin1');
}

function descriptorsIn(limits: string): ResourceUse {
  return { resource: 'descriptors', used: readdirSync('/proc/self/fd').length, max: limitOf(limits, 'Max open files') };
}

/** Of a limit: what one thread may take of it by environments that it keeps open for later. */
const KEPT_PART = 1 / 16;
/** Data, lock, and the descriptor through which a commit is synced. */
const ENVIRONMENT_DESCRIPTORS = 3;

/** How many environments with a map of so many bytes one thread may keep open for later; one at least, and `countMax` at most. */
export function environmentsKept(mapBytes: number, countMax: number): number {
  const limits = toldLimits();
  if (limits === undefined) return countMax;
  const most = Math.min(
    limitOf(limits, 'Max open files') / ENVIRONMENT_DESCRIPTORS,
    limitOf(limits, 'Max address space') / mapBytes,
  );
  return Math.max(1, Math.min(countMax, Math.floor(most * KEPT_PART)));
}

/** Room for what is opened and stays open. Belongs to the main thread; one of a process should be enough. */
export class ProcessRoom {
  private counted: readonly ResourceUse[] = [];
  private countedMs = -Infinity;
  private countedAnewMs = -Infinity;
  private taken: Room = { descriptors: 0, maps: 0, addressBytes: 0 };

  constructor(
    private readonly count: () => readonly ResourceUse[] = processLimits,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** The first limit that leaves less than `need` beside `reserved`; undefined: there is room. */
  lacking(need: Room, reserved: Room): ResourceUse | undefined {
    return this.use().find(({ resource, used, max }) => used + need[resource] + reserved[resource] > max);
  }

  /** Something was closed: what is used is counted when it is asked for next. */
  countAnew(): void {
    this.countedAnewMs = -Infinity;
  }

  /** Counts what is about to be opened, until everything is counted anew. */
  take(need: Room): void {
    const { taken } = this;
    this.taken = {
      descriptors: taken.descriptors + need.descriptors,
      maps: taken.maps + need.maps,
      addressBytes: taken.addressBytes + need.addressBytes,
    };
  }

  private use(): readonly ResourceUse[] {
    const nowMs = this.nowMs();
    const use = this.withTaken();
    if (nowMs < this.countedAnewMs && !(nowMs >= this.countedMs + COUNTED_ANEW_MS && use.some(isNearLimit))) return use;
    this.counted = this.count();
    this.taken = { descriptors: 0, maps: 0, addressBytes: 0 };
    this.countedMs = nowMs;
    const pauseMs = (this.nowMs() - nowMs) / COUNTING_PART_MAX;
    this.countedAnewMs = nowMs + Math.min(COUNTED_ANEW_MS_MAX, Math.max(COUNTED_ANEW_MS, pauseMs));
    return this.counted;
  }

  private withTaken(): readonly ResourceUse[] {
    return this.counted.map((use) => ({ ...use, used: use.used + this.taken[use.resource] }));
  }
}

function isNearLimit({ used, max }: ResourceUse): boolean {
  return used > max * NEAR_PART;
}

/** `1,000 of 1,024 descriptors (ulimit -n) are used`. */
export function describeUse({ resource, used, max }: ResourceUse): string {
  return `${used.toLocaleString('en')} of ${max.toLocaleString('en')} ${NAMES[resource]} are used`;
}

/** For what was asked for, and cannot be made until the operator raises a limit. */
export function limitReached(what: string, lacking: ResourceUse): ServiceError {
  return new ServiceError(
    'limit-reached',
    `There is no room for ${what}: ${describeUse(lacking)}, and some are kept for what is there already. Raise the limit.`,
  );
}

/** For what would work again when others have ended. */
export function resourcesExhausted(why: string, cause?: unknown): ServiceError {
  return new ServiceError('resources-exhausted', `The process has no room left for this: ${why}; try again later.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}

const EXHAUSTED_CODES: Readonly<Record<string, string>> = {
  EMFILE: 'descriptors (ulimit -n)',
  ENFILE: 'descriptors (fs.file-max)',
  ENOMEM: 'memory maps or memory',
  ERR_WORKER_INIT_FAILED: 'descriptors (ulimit -n), threads (ulimit -u) or memory',
};
/** EAGAIN means many things; of a process that is started, this. */
const PROCESSES = 'processes (ulimit -u)';
const REFUSED_PROCESS = /^spawn\b/;
const EXHAUSTED_MESSAGES: readonly (readonly [pattern: RegExp, lacking: string])[] = [
  [/too many open files/i, 'descriptors (ulimit -n)'],
  [/cannot allocate memory/i, 'memory maps or memory'],
];

/** `resources-exhausted` for an error of the system, of LMDB or of the kernel that means it; every other error as it is. */
export function asResourceError(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const { code, syscall = '' } = error as NodeJS.ErrnoException;
  const byCode = code === 'EAGAIN' && REFUSED_PROCESS.test(syscall) ? PROCESSES : EXHAUSTED_CODES[String(code)];
  const lacking = byCode ?? EXHAUSTED_MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1];
  return lacking === undefined ? error : resourcesExhausted(`it is out of ${lacking}`, error);
}

/**
 * Throws `resources-exhausted` where an environment of LMDB with a map of so many bytes cannot be opened. Any thread. Descriptors are
 * tried instead of counted: others come and go meanwhile.
 */
export function assertEnvironmentRoom(mapBytes: number): void {
  if (process.platform !== 'linux') return;
  const tried: number[] = [];
  try {
    for (let i = 0; i < PROBED_DESCRIPTORS; ++i) tried.push(openSync('/dev/null', 'r'));
  } catch (error) {
    throw asResourceError(error);
  } finally {
    for (const descriptor of tried) closeSync(descriptor);
  }
  assertAddressRoom(mapBytes);
}

/** Until when this thread takes it for granted that there is plenty of room, and for how much. */
let plenty = { untilMs: -Infinity, bytes: 0 };

/**
 * Throws `resources-exhausted` where the map of a file of so many bytes might outgrow the address space while it is written. Called
 * before every transaction: where most of the address space is free, it is not asked for again each time.
 */
export function assertGrowthRoom(fileBytes: number): void {
  if (process.platform !== 'linux') return;
  const bytes = MAP_GROWTH * fileBytes;
  const now = performance.now();
  if (now < plenty.untilMs && bytes <= plenty.bytes) return;
  const left = assertAddressRoom(bytes);
  plenty = { untilMs: now + COUNTED_ANEW_MS, bytes: left - addressBytesMax() / 2 };
}

/** Returns what is left, of which nothing is taken. */
function assertAddressRoom(bytes: number): number {
  const left = addressBytesMax() - mappedBytes() - ADDRESS_BYTES_RESERVED;
  if (bytes > left) throw resourcesExhausted(`it is nearly out of ${NAMES.addressBytes}`);
  return left;
}

/** Read once: what a process may map does not change while it runs. */
let addressLimit: number | undefined;
function addressBytesMax(): number {
  return (addressLimit ??= limitOf(toldLimits() ?? '', 'Max address space'));
}

function mappedBytes(): number {
  return Number(procSelf('statm')?.toString('latin1').split(' ', 1)[0] ?? 0) * pageBytes();
}

/** The soft limit, of those that the process has. */
function limitOf(limits: string, name: string): number {
  const value = new RegExp(`^${name}\\s+(\\S+)`, 'mu').exec(limits)?.[1] ?? 'unlimited';
  const most = name === 'Max address space' ? ADDRESS_BYTES_MAX : Number.MAX_SAFE_INTEGER;
  return value === 'unlimited' ? most : Math.min(most, Number(value));
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}
