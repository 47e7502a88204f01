/**
 * A worker's reply: a value, or an error as plain data. A ServiceError is the fault of the task and goes back to the
 * caller; anything else is a bug, whose text only goes to the log of the main thread.
 */
import { asDamageError } from '../damaged-storage.js';
import { deserialiseError, serialiseError, ServiceError, type SerialisedServiceError } from '../errors.js';
import { asResourceError } from '../process-room.js';
import { asProgramError } from '../program.js';
import { asStorageError } from '../storage-space.js';

export type WorkerReply<Value> = { readonly ok: true; readonly value: Value } | WorkerFailure;

export interface WorkerFailure {
  readonly ok: false;
  readonly error: SerialisedServiceError;
  /** Stack of an unexpected error, for the log; never for a caller. */
  readonly bug?: string;
  /** If set, nothing failed: the answer has to be asked for again. */
  readonly postponed?: Postponement;
}

/** `full`: the batch has the maximum of bytes; `long`: this answer alone would exceed it. */
export type Postponement = 'full' | 'long';

export const INTERNAL_ERROR_DETAIL =
  'The service could not finish this request because of a fault of its own. It is logged.';

export function failureReply(thrown: unknown): WorkerFailure {
  // A full disk or a limit of the process may appear in any step of a task, not only in its commit.
  const error = asResourceError(asStorageError(thrown));
  if (error instanceof ServiceError) return { ok: false, error: serialiseError(error) };
  const bug = stackOf(error);
  const known = asProgramError(asDamageError(error));
  if (known instanceof ServiceError) return { ok: false, error: serialiseError(known), bug };
  return { ok: false, error: { problem: 'internal-error', detail: INTERNAL_ERROR_DETAIL }, bug };
}

/** Returns the stack of an error; the text of anything else that was thrown. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Runs the action and turns its outcome into a reply; never rejects. */
export async function replyOf<Value>(action: () => Promise<Value> | Value): Promise<WorkerReply<Value>> {
  try {
    return { ok: true, value: await action() };
  } catch (error) {
    return failureReply(error);
  }
}

/** Returns the value of a reply, or throws its ServiceError; passes the stack of an unexpected error to `logBug`. */
export function valueOf<Value>(reply: WorkerReply<Value>, logBug: (stack: string) => void): Value {
  if (reply.ok) return reply.value;
  if (reply.bug !== undefined) logBug(reply.bug);
  throw deserialiseError(reply.error);
}
