/** Abbreviations of a list's records, read step by step by search workers, so that searches go on in between. */
import type { ListIndex } from '../index/index.js';
import type { Cancellation } from '../platform/index.js';
import { CandidateCollector, type AbbreviationStep, type SynonymCandidate } from '../synonyms/index.js';
import { parsedAnswer } from './parsed-answer.js';
import type { Services } from './services.js';

/** Lists whose last candidates are kept: to read all records again for the same answer is waste. */
const RESULTS_KEPT_MAX = 16;

interface Scan {
  readonly found: Promise<readonly SynonymCandidate[]>;
  /** Stops it, when nobody waits for it any more. */
  readonly abort: AbortController;
  waiting: number;
}

/** By the sequence of the generation, which no two generations share; also those that are under way. */
const scans = new Map<number, Scan>();

/** Rejects with `overloaded` where too many tasks wait. Callers that ask for the same share one scan, which ends when all have left. */
export async function findSynonymCandidates(
  services: Services,
  index: ListIndex,
  signal: Cancellation,
): Promise<readonly SynonymCandidate[]> {
  const lease = index.lease();
  const { sequence } = lease;
  lease.release();
  if (signal.aborted) throw signal.reason;
  const shared = scans.get(sequence) ?? begin(services, index, sequence);
  shared.waiting += 1;
  const onAbort = () => {
    shared.waiting -= 1;
    if (shared.waiting > 0) return;
    // Whoever asks next begins anew.
    if (scans.get(sequence) === shared) scans.delete(sequence);
    shared.abort.abort(signal.reason);
  };
  signal.addEventListener('abort', onAbort);
  const found = await shared.found.finally(() => {
    signal.removeEventListener('abort', onAbort);
  });
  if (signal.aborted) throw signal.reason;
  return found;
}

function begin(services: Services, index: ListIndex, sequence: number): Scan {
  if (scans.size >= RESULTS_KEPT_MAX) scans.delete(scans.keys().next().value as number);
  const abort = new AbortController();
  const begun: Scan = { found: scan(services, index, abort.signal), abort, waiting: 0 };
  scans.set(sequence, begun);
  begun.found.catch(() => {
    if (scans.get(sequence) === begun) scans.delete(sequence);
  });
  return begun;
}

async function scan(services: Services, index: ListIndex, signal: AbortSignal): Promise<readonly SynonymCandidate[]> {
  const lease = index.lease();
  try {
    const collector = new CandidateCollector();
    for (let afterRecord: number | null = -1; afterRecord !== null;) {
      const task = { kind: 'abbreviations', generation: lease.handle, afterRecord } as const;
      const step = parsedAnswer(await services.searchPool.search(task, signal)) as AbbreviationStep;
      for (const count of step.counts) collector.add(count);
      afterRecord = step.lastRecord;
    }
    return collector.candidates();
  } finally {
    lease.release();
  }
}
