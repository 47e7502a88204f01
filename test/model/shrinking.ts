/**
 * Shortens a sequence that shows a difference: removes operations, then records and fields, while the difference
 * remains.
 */
import type { Operation, Sequence } from './operations.js';
import type { Fields } from './reference-list.js';

const TRIES_MAX = 400;

/** Returns the shortened sequence. `fails` tells whether a candidate shows the same difference. */
export async function shrunk(sequence: Sequence, fails: (candidate: Sequence) => Promise<boolean>): Promise<Sequence> {
  let tries = 0;
  const keep = async (candidate: Sequence) => (tries += 1) <= TRIES_MAX && (await fails(candidate));
  let best = sequence;
  const operations = await fewer(best.operations, (some) => keep({ ...best, operations: some }));
  best = { ...best, operations };
  for (const [at, operation] of operations.entries()) {
    const replaced = (other: Operation): Sequence => ({ ...best, operations: best.operations.with(at, other) });
    for (const smaller of partsOf(operation)) {
      const part = await fewer(smaller.parts, (some) => keep(replaced(smaller.made(some))));
      if (part.length < smaller.parts.length) best = replaced(smaller.made(part));
    }
  }
  return best;
}

/** Removes ever smaller chunks of `all` (halves, quarters and so on) while `still` holds. */
async function fewer<T>(all: readonly T[], still: (some: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let kept = all;
  for (let length = Math.ceil(all.length / 2); length >= 1; length = length === 1 ? 0 : Math.ceil(length / 2)) {
    for (let from = 0; from < kept.length;) {
      const some = [...kept.slice(0, from), ...kept.slice(from + length)];
      if (await still(some)) kept = some;
      else from += length;
    }
  }
  return kept;
}

interface Smaller {
  readonly parts: readonly unknown[];
  made(parts: readonly unknown[]): Operation;
}

function partsOf(operation: Operation): Smaller[] {
  if (operation.kind === 'bulk')
    return [
      { parts: operation.records, made: (parts) => ({ ...operation, records: parts as typeof operation.records }) },
    ];
  if (operation.kind === 'together')
    return [{ parts: operation.writes, made: (parts) => ({ ...operation, writes: parts as typeof operation.writes }) }];
  if (operation.kind === 'walk')
    return [{ parts: operation.writes, made: (parts) => ({ ...operation, writes: parts as typeof operation.writes }) }];
  if (operation.kind === 'kill')
    return [
      { parts: operation.writes, made: (parts) => ({ ...operation, writes: parts as typeof operation.writes }) },
      {
        parts: operation.changes ?? [],
        made: (parts) => ({ ...operation, changes: parts as NonNullable<typeof operation.changes> }),
      },
    ];
  if (operation.kind === 'account')
    return [{ parts: operation.steps, made: (parts) => ({ ...operation, steps: parts as typeof operation.steps }) }];
  if (operation.kind === 'contended')
    return [{ parts: operation.calls, made: (parts) => ({ ...operation, calls: parts as typeof operation.calls }) }];
  if (operation.kind === 'search')
    return [{ parts: operation.facets, made: (parts) => ({ ...operation, facets: parts as typeof operation.facets }) }];
  if (operation.kind === 'put' || operation.kind === 'replace') {
    const made = (parts: readonly unknown[]) => ({
      ...operation,
      record: { ...operation.record, fields: fieldsOf(parts) },
    });
    return [{ parts: Object.entries(operation.record.fields), made }];
  }
  return [];
}

const fieldsOf = (entries: readonly unknown[]) => Object.fromEntries(entries as [string, unknown][]) as Fields;
