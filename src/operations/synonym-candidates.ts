/** Abbreviations of a list's records, read step by step by search workers, so that searches go on in between. */
import type { ListIndex } from '../index/index.js';
import type { Cancellation } from '../platform/index.js';
import { CandidateCollector, type AbbreviationStep, type SynonymCandidate } from '../synonyms/index.js';
import { parsedAnswer } from './parsed-answer.js';
import type { Services } from './services.js';

/** Lists whose last candidates are kept: to read all records again for the same answer is waste. */
const RESULTS_KEPT_MAX = 16;

/** By the sequence of the generation, which no two generations share; also those being looked for. */
const results = new Map<number, Promise<readonly SynonymCandidate[]>>();

/** Rejects with `overloaded` where too many tasks wait. Callers that ask for the same share one scan. */
export async function findSynonymCandidates(
  services: Services,
  index: ListIndex,
  signal: Cancellation,
): Promise<readonly SynonymCandidate[]> {
  const lease = index.lease();
  const { sequence } = lease;
  lease.release();
  let result = results.get(sequence);
  if (result === undefined) {
    if (results.size >= RESULTS_KEPT_MAX) results.delete(results.keys().next().value as number);
    result = scan(services, index);
    results.set(sequence, result);
    result.catch(() => results.delete(sequence));
  }
  const found = await result;
  if (signal.aborted) throw signal.reason;
  return found;
}

async function scan(services: Services, index: ListIndex): Promise<readonly SynonymCandidate[]> {
  const lease = index.lease();
  // The scan goes on for those who ask next when its first caller leaves.
  const { signal } = new AbortController();
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
