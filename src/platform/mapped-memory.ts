/**
 * Keeps the resident part of mapped files within a budget. The system maps many pages around each one touched, and
 * drops none until memory runs short, so a service that has answered a few thousand searches seems to need all its data
 * in memory. Releasing the mappings costs a minor fault for each page that is touched again.
 *
 * Under lasting load, that cost occurs several times a second for the same pages and is an eighth of a search, so the
 * budget grows while the load lasts (docs/decisions/0035-what-a-search-costs-beside-its-evaluation.md).
 */
import type { Kernel } from '../../native-bindings/index.js';
import { residentFileBytes } from './own-memory.js';

/** Reading one line of /proc takes some 10 µs; within this interval a busy service touches at most about 100 MiB. */
const CHECK_INTERVAL_MS = 200;

export interface MappedBudget {
  /** Resident bytes beyond which mappings are released, at rest and in a burst of requests. */
  readonly mappedBytesMax: number;
  /**
   * Maximum to which that budget grows under lasting load. If it is not larger than `mappedBytesMax`, the budget never
   * grows.
   */
  readonly mappedBusyBytesMax: number;
}

/** Checks per window of 15 s, over which load is judged: a burst of requests is no lasting load. */
export const LOOKS_PER_WINDOW = 75;
/** Releases per window that do not let the budget grow: one every two seconds costs little. */
const LET_GO_PER_WINDOW_MAX = 7;
const GROWTH = 4;
/** Share of one processor below which the service counts as at rest. */
const REST_PROCESSOR_SHARE = 0.1;
const REST_CPU_MS_PER_WINDOW = REST_PROCESSOR_SHARE * LOOKS_PER_WINDOW * CHECK_INTERVAL_MS;

/**
 * Decides at each check whether mappings are released. The budget grows in steps while the same pages are released and
 * touched again all the time, and returns to the smaller one when the service is at rest.
 */
export class MappedAllowance {
  #allowance: number;
  #looks = 0;
  #lettingGo = 0;
  #windowBeganCpuMs: number;

  /** `cpuMs`: processor time that the process has used so far. */
  constructor(
    private readonly budget: MappedBudget,
    cpuMs: number,
  ) {
    this.#allowance = budget.mappedBytesMax;
    this.#windowBeganCpuMs = cpuMs;
  }

  /** Returns true if mappings are to be released; `cpuMs` is called once per window. */
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
  /** Absolute path; mappings of files below it are released. */
  readonly dataDir: string;
}

/** Checks until `stop`. What was resident at the start (programs and libraries) does not count. */
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
