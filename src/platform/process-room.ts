/**
 * How much is left of what the system allows this process: descriptors, memory maps, address space. lmdb-js' LMDB ends
 * the process if it is refused a file or a map, so there has to be room before it is called. If the system reports no
 * limits (other than Linux, and a `chroot` without `/proc`), there is always room.
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
/** Names in `/proc/…/limits`; the limit of maps is the same for all processes. */
const LIMIT_NAMES: Readonly<Partial<Record<Resource, string>>> = {
  descriptors: 'Max open files',
  addressBytes: 'Max address space',
};
/** Addressable bytes of a process without another limit: 47 bits. */
const ADDRESS_BYTES_MAX = 2 ** 47;
const MAPS_MAX = '/proc/sys/vm/max_map_count';
const COUNTED_ANEW_MS = 500;
/**
 * Share of the time that counting may take while nothing is near its limit; it takes a millisecond for some thousand
 * maps.
 */
const COUNTING_PART_MAX = 1 / 400;
const COUNTED_ANEW_MS_MAX = 10_000;
/** Share of a limit beyond which it is counted every `COUNTED_ANEW_MS`. */
const NEAR_PART = 0.5;
const RETRY_AFTER_SECONDS = 5;
/** Descriptors that opening an LMDB environment takes, plus some for what other threads open at the same moment. */
const PROBED_DESCRIPTORS = 12;
/** Address space left to threads and their heaps. */
const ADDRESS_BYTES_RESERVED = 2 ** 30;
/** A map that has become too small is replaced by one twice as large as needed, and the old one stays next to it. */
const MAP_GROWTH = 4;

/**
 * Returns what is used and allowed now; empty if the system does not report it. Throws `resources-exhausted` if no
 * descriptor is left for reading it.
 */
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
    // A sandbox may report about the process itself, but not about the system.
    ...(existsSync(MAPS_MAX)
      ? [{ resource: 'maps', used: linesIn(maps), max: Number(readFileSync(MAPS_MAX, 'utf8')) } as const]
      : []),
    { resource: 'addressBytes', used: mappedBytes(), max: limitOf(limits, 'Max address space') },
  ];
}

/** Returns the use of this process with the limits of process `pid`; undefined if the system does not report them. */
export function limitsOfProcess(pid: number): readonly ResourceUse[] | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
    return limitsNow().map((use) => {
      const name = LIMIT_NAMES[use.resource];
      return name === undefined ? use : { ...use, max: limitOf(limits, name) };
    });
  } catch {
    // The process has ended, or is hidden from other users: the caller then uses the limits of this process.
    return undefined;
  }
}

/** Returns the use of descriptors; undefined if the system does not report it. */
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

/** Share of a limit that one thread may take for environments that it keeps open for later. */
const KEPT_PART = 1 / 16;
/** Data file, lock file, and the descriptor by which commits are synced. */
const ENVIRONMENT_DESCRIPTORS = 3;

/** Returns how many environments with a map of `mapBytes` one thread may keep open for later: 1 to `countMax`. */
export function environmentsKept(mapBytes: number, countMax: number): number {
  const limits = toldLimits();
  if (limits === undefined) return countMax;
  const most = Math.min(
    limitOf(limits, 'Max open files') / ENVIRONMENT_DESCRIPTORS,
    limitOf(limits, 'Max address space') / mapBytes,
  );
  return Math.max(1, Math.min(countMax, Math.floor(most * KEPT_PART)));
}

/** Tracks the room for what is opened and stays open. Main thread only; one per process suffices. */
export class ProcessRoom {
  private counted: readonly ResourceUse[] = [];
  private countedMs = -Infinity;
  private countedAnewMs = -Infinity;
  private taken: Room = { descriptors: 0, maps: 0, addressBytes: 0 };

  constructor(
    private readonly count: () => readonly ResourceUse[] = processLimits,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Returns the first limit that leaves less than `need` in addition to `reserved`; undefined if there is room. */
  lacking(need: Room, reserved: Room): ResourceUse | undefined {
    return this.use().find(({ resource, used, max }) => used + need[resource] + reserved[resource] > max);
  }

  /** To be called after something was closed: the next call counts again. */
  countAnew(): void {
    this.countedAnewMs = -Infinity;
  }

  /** Adds what is about to be opened to the count, until the next counting. */
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

/** Returns, for instance, `1,000 of 1,024 descriptors (ulimit -n) are used`. */
export function describeUse({ resource, used, max }: ResourceUse): string {
  return `${used.toLocaleString('en')} of ${max.toLocaleString('en')} ${NAMES[resource]} are used`;
}

/** Returns the error for a request that cannot be fulfilled until the operator raises a limit. */
export function limitReached(what: string, lacking: ResourceUse): ServiceError {
  return new ServiceError(
    'limit-reached',
    `There is no room for ${what}: ${describeUse(lacking)}, and some are kept for what is there already. Raise the limit.`,
  );
}

/** Returns the error for something that will work again when other uses have ended. */
export function resourcesExhausted(why: string, cause?: unknown): ServiceError {
  return new ServiceError('resources-exhausted', `The service has no room for this: ${why}; try again later.`, {
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
/** EAGAIN has many meanings; from starting a process, it means this. */
const PROCESSES = 'processes (ulimit -u)';
const REFUSED_PROCESS = /^spawn\b/;
const EXHAUSTED_MESSAGES: readonly (readonly [pattern: RegExp, lacking: string])[] = [
  [/too many open files/i, 'descriptors (ulimit -n)'],
  [/cannot allocate memory/i, 'memory maps or memory'],
];

/**
 * Returns `resources-exhausted` if an error of the system, LMDB or the kernel means that; every other error unchanged.
 */
export function asResourceError(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const { code, syscall = '' } = error as NodeJS.ErrnoException;
  const byCode = code === 'EAGAIN' && REFUSED_PROCESS.test(syscall) ? PROCESSES : EXHAUSTED_CODES[String(code)];
  const lacking = byCode ?? EXHAUSTED_MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1];
  return lacking === undefined ? error : resourcesExhausted(`it is out of ${lacking}`, error);
}

/**
 * Throws `resources-exhausted` if an LMDB environment with a map of `mapBytes` cannot be opened. Any thread.
 * Descriptors are probed, not counted, since other threads open and close some meanwhile.
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

/** Time until which this thread assumes that so many bytes of address space are free. */
let plenty = { untilMs: -Infinity, bytes: 0 };

/**
 * Throws `resources-exhausted` if the map of a file of `fileBytes` might outgrow the address space while it is written.
 * Called before every transaction, so it does not measure each time while most of the address space is free.
 */
export function assertGrowthRoom(fileBytes: number): void {
  if (process.platform !== 'linux') return;
  const bytes = MAP_GROWTH * fileBytes;
  const now = performance.now();
  if (now < plenty.untilMs && bytes <= plenty.bytes) return;
  const left = assertAddressRoom(bytes);
  plenty = { untilMs: now + COUNTED_ANEW_MS, bytes: left - addressBytesMax() / 2 };
}

/** Returns the bytes left, before `bytes` are taken. Throws `resources-exhausted` if they do not fit. */
function assertAddressRoom(bytes: number): number {
  const left = addressBytesMax() - mappedBytes() - ADDRESS_BYTES_RESERVED;
  if (bytes > left) throw resourcesExhausted(`it is nearly out of ${NAMES.addressBytes}`);
  return left;
}

/** Read once: the limit does not change while the process runs. */
let addressLimit: number | undefined;
function addressBytesMax(): number {
  return (addressLimit ??= limitOf(toldLimits() ?? '', 'Max address space'));
}

function mappedBytes(): number {
  return Number(procSelf('statm')?.toString('latin1').split(' ', 1)[0] ?? 0) * pageBytes();
}

/** Returns the soft limit of that name. */
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
