/** Kinds of errors that only webhooks have. */
import type { ProblemKind } from '../platform/index.js';

export const WEBHOOK_NOT_FOUND = {
  code: 'webhook-not-found',
  status: 404,
  title: 'There is no such webhook',
} as const satisfies ProblemKind;

/** Detail of a `not-ready` error. */
export const QUEUE_UNREADABLE =
  'The queue of deliveries cannot be read from the disk at the moment. It is left as it is and opened again by itself; nothing is lost meanwhile.';
