/**
 * Checks records that are sent with the id that the service gave them: a record that was read and is sent back replaces
 * itself, and never creates a second one.
 */
import { ERROR_VALUE_CHARACTERS_MAX, ServiceError } from '../../platform/index.js';
import { invalidRecord, type StoredRecord } from '../../records/index.js';

export interface FoundRecord {
  readonly recordNumber: number;
  readonly previous: StoredRecord;
}

/**
 * Throws `invalid-record` if the record has an id but no name, and `conflict` if another record has the id or the name.
 * `ofName`: the record that has this name now. `ofId` looks up the record that has this id.
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
  // An unknown id is accepted: the record may have been deleted, or come from another list. Its name is the key, and it
  // gets a new id.
  if (other === undefined) return;
  const known = other.name.slice(0, ERROR_VALUE_CHARACTERS_MAX);
  throw conflict(
    `The record with this id is called '${known}': PUT to its own path renames it; leave id out to make another record.`,
  );
}

function conflict(detail: string): ServiceError {
  return new ServiceError('conflict', detail, { errors: [{ pointer: '/id', detail }] });
}
