/**
 * Work that a change leaves behind: it is written in the transaction of the change, done later, tried again when it fails, and set
 * aside with its reason when that does not help. Nothing of it is lost or done twice in vain, whenever the process ends.
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
