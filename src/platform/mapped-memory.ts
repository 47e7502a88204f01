/**
 * Keeps the resident part of mapped files within a budget. The system maps many pages around each one that is touched and
 * drops none until memory runs short, so that a service that has answered a few thousand searches seems to need all its data
 * in memory. Letting the mappings go costs a minor fault for each page that is touched again.
 */
import { readFileSync } from 'node:fs';
import type { Kernel } from '../../native-bindings/index.js';

/** Reading one line of /proc costs some 10 µs, and within this time a busy service touches about 100 MiB at most. */
const CHECK_INTERVAL_MS = 200;
const STATM = '/proc/self/statm';
/** statm counts pages; `getconf PAGESIZE` is 4096 on x86-64 and on most arm64 systems, and only the order matters here. */
const PAGE_BYTES = 4096;
const SHARED_FIELD = 2;

/** Bytes of resident file pages; undefined where the system does not tell (other than Linux). */
export function residentFileBytes(): number | undefined {
  try {
    return Number(readFileSync(STATM, 'latin1').split(' ')[SHARED_FIELD]) * PAGE_BYTES;
  } catch {
    return undefined;
  }
}

export interface MappedMemoryOptions {
  readonly kernel: Pick<Kernel, 'trimMappings'>;
  /** Absolute; mappings of files below it are let go. */
  readonly dataDir: string;
  readonly mappedBytesMax: number;
}

/** Checks until `stop`. What was resident at the start (programs and libraries) does not count against the budget. */
export function limitMappedMemory({ kernel, dataDir, mappedBytesMax }: MappedMemoryOptions): { stop(): void } {
  const programBytes = residentFileBytes();
  if (programBytes === undefined) return { stop: () => undefined };
  const timer = setInterval(() => {
    if ((residentFileBytes() ?? 0) - programBytes > mappedBytesMax) kernel.trimMappings(dataDir);
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
    },
  };
}
