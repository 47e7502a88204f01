/**
 * Finds abbreviations in a list's records, step by step in a separate thread, so that no search waits for it. The
 * thread ends when idle. Callers that ask for the same generation share one scan. Main thread only.
 */
import type { Logger } from 'pino';
import type { ListIndex } from '../index/index.js';
import { createWorkerThread, loggedWorker, type Host } from '../platform/hosts/index.js';
import {
  BoundedMap,
  assertEnvironmentRoom,
  compiledFile,
  ServiceError,
  type Cancellation,
  type Config,
  type Metrics,
} from '../platform/index.js';
import type { AbbreviationProtocol } from './abbreviation-protocol.js';
import type { AbbreviationStep, AbbreviationTask } from './abbreviation-scan.js';
import { CandidateCollector, type SynonymCandidate } from './candidate-collector.js';

/** Cached results, so that records are not read again for the same answer. */
const RESULTS_KEPT_MAX = 16;
/** Scans in progress. Each has one step in the thread's queue at a time, so that all of them proceed. */
const SCANS_MAX = 64;
const RETRY_AFTER_SECONDS = 1;
/** A step holds what it has read of a thousand records. */
const HEAP_MIB_MAX = 128;
const NICENESS = 5;
const IDLE_MS_MAX = 30_000;

export interface CandidateFinderOptions {
  readonly config: Pick<Config, 'search'>;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface Scan {
  readonly found: Promise<readonly SynonymCandidate[]>;
  /** Stops the scan when nobody waits for it any more. */
  readonly abort: AbortController;
  waiting: number;
}

export class CandidateFinder {
  private readonly host: Host<AbbreviationProtocol>;
  private readonly stepMsMax: number;
  /** Finished scans and those in progress, by the generation's sequence number, which is unique. */
  readonly #scans = new BoundedMap<number, Scan>(RESULTS_KEPT_MAX);
  #underWay = 0;

  constructor({ config, log, metrics }: CandidateFinderOptions) {
    this.stepMsMax = config.search.deadline_ms;
    this.host = createWorkerThread({
      name: 'synonyms',
      entry: compiledFile('src/synonyms/abbreviation.worker'),
      data: null,
      heapMibMax: HEAP_MIB_MAX,
      niceness: NICENESS,
      idleMsMax: IDLE_MS_MAX,
      ...loggedWorker('synonyms', { log, metrics }),
    });
  }

  /**
   * Rejects with `overloaded` if too many scans are in progress, `deadline` if a step takes too long, or the signal's
   * reason.
   */
  async find(index: ListIndex, signal: Cancellation): Promise<readonly SynonymCandidate[]> {
    const lease = index.lease();
    const { sequence } = lease;
    lease.release();
    if (signal.aborted) throw signal.reason;
    const shared = this.#scans.get(sequence) ?? this.#begin(index, sequence);
    shared.waiting += 1;
    const onAbort = () => {
      shared.waiting -= 1;
      if (shared.waiting > 0) return;
      // The next caller starts a new scan.
      if (this.#scans.get(sequence) === shared) this.#scans.delete(sequence);
      shared.abort.abort(signal.reason);
    };
    signal.addEventListener('abort', onAbort);
    const found = await shared.found.finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
    if (signal.aborted) throw signal.reason;
    return found;
  }

  close(): Promise<void> {
    return this.host.close();
  }

  #begin(index: ListIndex, sequence: number): Scan {
    if (this.#underWay >= SCANS_MAX) {
      const detail = `${SCANS_MAX} lists are already being read for abbreviations; try again in a second.`;
      throw new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const abort = new AbortController();
    const begun: Scan = { found: this.#scan(index, abort.signal), abort, waiting: 0 };
    this.#scans.set(sequence, begun);
    begun.found.catch(() => {
      if (this.#scans.get(sequence) === begun) this.#scans.delete(sequence);
    });
    return begun;
  }

  async #scan(index: ListIndex, signal: AbortSignal): Promise<readonly SynonymCandidate[]> {
    const lease = index.lease();
    let step: Promise<AbbreviationStep> | undefined;
    this.#underWay += 1;
    try {
      const collector = new CandidateCollector();
      for (let afterRecord: number | null = -1; afterRecord !== null;) {
        step = this.#step({ generation: lease.handle, afterRecord });
        const { counts, lastRecord } = await inTime(step, this.stepMsMax);
        signal.throwIfAborted();
        for (const count of counts) collector.add(count);
        afterRecord = lastRecord;
      }
      return collector.candidates();
    } finally {
      // An abandoned step continues, and uses the generation until it ends.
      const ended = () => {
        this.#underWay -= 1;
        lease.release();
      };
      if (step === undefined) ended();
      else step.then(ended, ended);
    }
  }

  async #step(task: AbbreviationTask): Promise<AbbreviationStep> {
    // Starting the thread needs file descriptors.
    if (!this.host.isRunning) assertEnvironmentRoom(0);
    return this.host.call('step', task);
  }
}

async function inTime<Value>(promise: Promise<Value>, msMax: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const detail = `Some records were not read for abbreviations after ${msMax} ms (search.deadline_ms); try again later.`;
    timer = setTimeout(() => {
      reject(new ServiceError('deadline', detail));
    }, msMax);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
