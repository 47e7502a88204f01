/** What is answered where no record has the id of a path: ids are made by the service, and people know their records by names. */
import { ServiceError } from '../platform/index.js';
import { DamagedRecordError } from './record-parts.js';
import { storedIdOf } from './record-codec.js';

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

function idOfName(records: NamedRecords, name: string): string | undefined {
  const number = records.recordNumberOfName(name);
  try {
    const bytes = number === undefined ? undefined : records.record(number);
    return bytes === undefined ? undefined : storedIdOf(bytes);
  } catch (error) {
    // Of a hint the answer does not depend.
    if (error instanceof DamagedRecordError) return undefined;
    throw error;
  }
}
