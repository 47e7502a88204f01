/**
 * Adapts generated writes to the state of their list: removes vectors that the list cannot take or whose length could
 * become ambiguous.
 */
import type { ContendedCall, NewRecord, Operation, Write } from './operations.js';
import type { ReferenceList } from './reference-list.js';
import type { GivenVectors } from './reference-vectors.js';

/** One in this many writes with vectors to a list that takes none keeps them, to test the refusal. */
const ALL_THE_SAME_EVERY = 10;

export function adapted(operation: Operation, lists: readonly ReferenceList[]): Operation {
  switch (operation.kind) {
    case 'put':
    case 'patch':
    case 'replace':
      return adaptedWrite(operation, lists);
    case 'together':
    case 'walk':
      return { ...operation, writes: operation.writes.map((write) => adaptedWrite(write, lists)) };
    case 'bulk':
      return { ...operation, records: operation.records.map((record) => adaptedRecord(record, lists[operation.list])) };
    case 'contended': {
      const list = lists[operation.list];
      // While the length of vectors is not settled, no call has any: which call is first, and settles it, is unknown.
      const some = list?.dimensions === undefined ? withoutVectors : (record: NewRecord) => adaptedRecord(record, list);
      const calls = operation.calls.map((call): ContendedCall => {
        if (call.kind === 'delete') return call;
        return call.kind === 'put'
          ? { ...call, record: some(call.record) }
          : { ...call, records: call.records.map(some) };
      });
      return { ...operation, calls };
    }
    case 'kill': {
      const list = lists[operation.list];
      return {
        ...operation,
        writes: operation.writes.map((some) => some.map((record) => adaptedRecord(record, list))),
      };
    }
    default:
      return operation;
  }
}

function adaptedWrite<W extends Write>(write: W, lists: readonly ReferenceList[]): W {
  const list = lists[write.list];
  if (write.kind === 'patch') {
    const { vectors: _, ...others } = write;
    return isSent(write.vectors, write.name, list) ? write : (others as W);
  }
  return write.kind === 'delete' ? write : { ...write, record: adaptedRecord(write.record, list) };
}

function adaptedRecord(record: NewRecord, list: ReferenceList | undefined): NewRecord {
  const { name, fields, vectors } = record;
  return isSent(vectors, name, list) ? record : { name, fields };
}

const withoutVectors = ({ name, fields }: NewRecord): NewRecord => ({ name, fields });

function isSent(vectors: GivenVectors | undefined, name: string, list: ReferenceList | undefined): boolean {
  if (list?.model !== 'own') return vectors === undefined || name.length % ALL_THE_SAME_EVERY === 0;
  // Before the length is settled, only one length is sent: which of several concurrent writes settles it is unknown.
  return list.dimensions !== undefined || (vectors?.every(({ length }) => length === 3) ?? true);
}
