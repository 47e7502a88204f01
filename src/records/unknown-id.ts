/**
 * Errors for an id or name of a path that no record has. Ids are assigned by the service, but people know their records
 * by names, and each path takes one of the two; so the error gives the other.
 */
import { recordNumberOf, ServiceError } from '../platform/index.js';
import { DamagedRecordError } from './record-parts.js';
import { decodeRecord, storedIdOf } from './record-codec.js';

/** Looks up the records of a version by their names. */
interface NamedRecords {
  recordNumberOfName(name: string): number | undefined;
  record(recordNumber: number): Uint8Array | undefined;
}

/**
 * Returns `record-not-found`. If `given` is the name of a record, the error gives its id. `sentence` has no full stop.
 * `records`: undefined if the caller may not read them.
 */
export function unknownId(records: NamedRecords | undefined, given: string, sentence: string): ServiceError {
  const id = records === undefined ? undefined : idOfName(records, given);
  const hint = id === undefined ? '' : ` But there is one with this name: its id is ${id}.`;
  return new ServiceError('record-not-found', `${sentence}.${hint}`);
}

/** As `unknownId` for a name; gives the name if `given` is an id. */
export function unknownName(records: NamedRecords, given: string, sentence: string): ServiceError {
  const name = nameOfId(records, given);
  const hint = name === undefined ? '' : ` But there is one with this id: its name is ${JSON.stringify(name)}.`;
  return new ServiceError('record-not-found', `${sentence}.${hint}`);
}

function nameOfId(records: NamedRecords, id: string): string | undefined {
  const number = recordNumberOf(id);
  return readOf(records, number, (bytes) => (storedIdOf(bytes) === id ? decodeRecord(bytes).name : undefined));
}

function idOfName(records: NamedRecords, name: string): string | undefined {
  return readOf(records, records.recordNumberOfName(name), storedIdOf);
}

function readOf(
  records: NamedRecords,
  number: number | undefined,
  read: (bytes: Uint8Array) => string | undefined,
): string | undefined {
  try {
    const bytes = number === undefined ? undefined : records.record(number);
    return bytes === undefined ? undefined : read(bytes);
  } catch (error) {
    // The hint is optional.
    if (error instanceof DamagedRecordError) return undefined;
    throw error;
  }
}
