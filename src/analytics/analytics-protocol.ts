/** Messages between the main thread and the analytics worker. */
import type { AnalyticsResult, AnalyticsTask } from './tasks.js';

export interface AnalyticsWorkerData {
  /** `data/analytics`. */
  readonly analyticsFolder: string;
}

export interface AnalyticsProtocol {
  readonly questions: {
    readonly run: { readonly ask: AnalyticsTask; readonly answer: AnalyticsResult<AnalyticsTask> };
  };
  readonly notices: Readonly<Record<never, unknown>>;
  readonly events: {
    /** Why the storage cannot be read; null once it can be again. */
    readonly storage: { readonly unreadable: string | null };
  };
}
