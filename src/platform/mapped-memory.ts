/**
 * Keeps the resident part of mapped files within a budget. The system maps many pages around each one that is touched and
 * drops none until memory runs short, so that a service that has answered a few thousand searches seems to need all its data
 * in memory. Letting the mappings go costs a minor fault for each page that is touched again.
 *
 * Under lasting load that cost is paid several times a second for the same pages, an eighth of what a search takes, and so the
 * budget grows while it lasts (docs/decisions/0035-what-a-search-costs-beside-its-evaluation.md).
 */
import type { Kernel } from '../../native-bindings/index.js';
import { residentFileBytes } from './own-memory.js';

/** Reading one line of /proc costs some 10 µs, and within this time a busy service touches about 100 MiB at most. */
const CHECK_INTERVAL_MS = 200;

export interface MappedBudget {
  /** Resident bytes beyond which the mappings are let go: at rest, and in a burst of requests. */
  readonly mappedBytesMax: number;
  /** What that grows to under lasting load; less than the other: it never grows. */
  readonly mappedBusyBytesMax: number;
}

/** How load is judged: over 15 s, so that no burst of requests is taken for lasting load. */
export const LOOKS_PER_WINDOW = 75;
/** Letting go less often than every two seconds costs little. */
const LET_GO_PER_WINDOW_MAX = 7;
const GROWTH = 4;
/** Of one processor: a service that takes less is at rest. */
const REST_PROCESSOR_SHARE = 0.1;
const REST_CPU_MS_PER_WINDOW = REST_PROCESSOR_SHARE * LOOKS_PER_WINDOW * CHECK_INTERVAL_MS;

/**
 * Decides at each look whether the mappings are let go. The budget grows by steps while the same pages are let go and touched
 * again all the time, and is the smaller one again when the service comes to rest.
 */
export class MappedAllowance {
  #allowance: number;
  #looks = 0;
  #lettingGo = 0;
  #windowBeganCpuMs: number;

  /** `cpuMs`: processor time of the process so far. */
  constructor(
    private readonly budget: MappedBudget,
    cpuMs: number,
  ) {
    this.#allowance = budget.mappedBytesMax;
    this.#windowBeganCpuMs = cpuMs;
  }

  /** Whether to let go; `cpuMs` is asked for once a window. */
  look(residentBytes: number, cpuMs: () => number): boolean {
    this.#looks += 1;
    if (this.#looks === LOOKS_PER_WINDOW) this.#judge(cpuMs());
    const isOver = residentBytes > this.#allowance;
    if (isOver) this.#lettingGo += 1;
    return isOver;
  }

  #judge(cpuMs: number): void {
    const { mappedBytesMax, mappedBusyBytesMax } = this.budget;
    const isAtRest = cpuMs - this.#windowBeganCpuMs < REST_CPU_MS_PER_WINDOW;
    if (isAtRest) this.#allowance = mappedBytesMax;
    else if (this.#lettingGo > LET_GO_PER_WINDOW_MAX) {
      this.#allowance = Math.max(mappedBytesMax, Math.min(mappedBusyBytesMax, this.#allowance * GROWTH));
    }
    this.#looks = 0;
    this.#lettingGo = 0;
    this.#windowBeganCpuMs = cpuMs;
  }
}

export interface MappedMemoryOptions extends MappedBudget {
  readonly kernel: Pick<Kernel, 'trimMappings'>;
  /** Absolute; mappings of files below it are let go. */
  readonly dataDir: string;
}

/** Checks until `stop`. What was resident at the start (programs and libraries) does not count against the budget. */
export function limitMappedMemory({ kernel, dataDir, ...budget }: MappedMemoryOptions): { stop(): void } {
  const programBytes = residentFileBytes();
  if (programBytes === undefined) return { stop: () => undefined };
  const allowance = new MappedAllowance(budget, processorTimeMs());
  const timer = setInterval(() => {
    const mapped = (residentFileBytes() ?? 0) - programBytes;
    if (allowance.look(mapped, processorTimeMs)) kernel.trimMappings(dataDir);
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
    },
  };
}

function processorTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
