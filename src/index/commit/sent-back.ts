/** Records that come with the id that the service gave them: one that was read and is sent back replaces itself, and never makes a second. */
import { ERROR_VALUE_CHARACTERS_MAX, ServiceError } from '../../platform/index.js';
import { invalidRecord, type StoredRecord } from '../../records/index.js';

export interface FoundRecord {
  readonly recordNumber: number;
  readonly previous: StoredRecord;
}

/**
 * Throws `invalid-record` where it has an id and no name, and `conflict` where another record has the id, or the name. `ofName`: what has
 * its name now. `ofId` looks up what has its id.
 */
export function assertItself(
  { id, name }: { readonly id?: string | undefined; readonly name: string | undefined },
  ofName: StoredRecord | undefined,
  ofId: () => StoredRecord | undefined,
): void {
  if (name === undefined) {
    throw invalidRecord('id', 'Whoever sends the id of a record sends its name too: leave id out for a new record.');
  }
  if (ofName?.id === id) return;
  if (ofName !== undefined) {
    throw conflict('The record of this name has another id: leave id out to replace it.');
  }
  const other = ofId();
  // One that is gone may come back, and one of another list come here: its name is the key, and it gets an id of its own.
  if (other === undefined) return;
  const known = other.name.slice(0, ERROR_VALUE_CHARACTERS_MAX);
  throw conflict(
    `The record with this id is called '${known}': PUT to its own path renames it; leave id out to make another record.`,
  );
}

function conflict(detail: string): ServiceError {
  return new ServiceError('conflict', detail, { errors: [{ pointer: '/id', detail }] });
}
