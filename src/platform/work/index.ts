/**
 * Work that a change leaves behind. It is written in the transaction of the change, done later, retried when it fails,
 * and set aside with its reason when retries do not help. Whenever the process ends, no work is lost, and only attempts
 * without a recorded outcome are repeated.
 */
export { OutboxRelay, UnreadSourceError, type RelayQueue, type RelaySources, type RowReader } from './outbox-relay.js';
export { RetrySchedule } from './retry-schedule.js';
export { RowOutbox, type NumberedRow, type RowCodec } from './row-outbox.js';
export { systemTimers, type Timers } from './timers.js';
export type { WorkFigures } from './work-counts.js';
export type * from './work-kind.js';
export { ASKED_WAIT_MS_MAX } from './work-lane.js';
export { WorkQueue, type SetAsideWork } from './work-queue.js';
export { WorkRunner, type WorkRunnerOptions } from './work-runner.js';
