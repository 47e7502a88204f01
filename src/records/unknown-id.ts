/** What is answered where no record has the id or the name of a path: ids are made by the service, people know their records by names, and each path takes one of them. */
import { recordNumberOf, ServiceError } from '../platform/index.js';
import { DamagedRecordError } from './record-parts.js';
import { decodeRecord, storedIdOf } from './record-codec.js';

/** Where the records of a version are looked up by their names. */
interface NamedRecords {
  recordNumberOfName(name: string): number | undefined;
  record(recordNumber: number): Uint8Array | undefined;
}

/**
 * `record-not-found`. `sentence` without its full stop; behind it stands which id was meant, where what was given is a name.
 * `records`: undefined for who may not read them.
 */
export function unknownId(records: NamedRecords | undefined, given: string, sentence: string): ServiceError {
  const id = records === undefined ? undefined : idOfName(records, given);
  const hint = id === undefined ? '' : ` But there is one with this name: its id is ${id}.`;
  return new ServiceError('record-not-found', `${sentence}.${hint}`);
}

/** The same of a name, where what was given is an id. */
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
    // Of a hint the answer does not depend.
    if (error instanceof DamagedRecordError) return undefined;
    throw error;
  }
}
