/**
 * @import { AnalyticsExecutor, AnalyticsResult, AnalyticsTask, AppendOutcome } from '#src/analytics/tasks.js'
 */

/** @type {AppendOutcome} */
const TAKEN = { backlogBytes: 0 };

/**
 * Replaces the worker that stores events: accepts all and stores none.
 * @type {AnalyticsExecutor}
 */
export const TAKES_ALL = {
  /**
   * @template {AnalyticsTask} Task
   * @param {Task} task
   */
  run({ kind }) {
    if (kind !== 'append') throw new Error(`nobody here does what is called ${kind}`);
    return Promise.resolve(/** @type {AnalyticsResult<Task>} */ (TAKEN));
  },
};
