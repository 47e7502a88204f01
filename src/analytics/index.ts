/** Analytics: the main thread records events and asks for reports; one worker stores, rolls up and reports. */
export {
  ANALYTICS,
  createAnalytics,
  type Analytics,
  type AnalyticsOptions,
  type RunningAnalytics,
} from './analytics.js';
export {
  createAnalyticsExecutor,
  type AnalyticsExecutorOptions,
  type RunningAnalyticsExecutor,
} from './analytics-executor.js';
export { searchTerm } from './search-term.js';
export { SHOWN_RESULTS_MAX, type ClickEvent, type SearchEvent, type ShownResult } from './event-codec.js';
export { groupTarget, listTarget, type AnalyticsTarget } from './targets.js';
export { RANGE_DAYS_MAX, reportRange, type DayRange } from './report-range.js';
export type { ReportFigures } from './report.js';
export { ANALYTICS_UNAVAILABLE } from './analytics-problems.js';
export { analyticsFolder } from './folder.js';
export { LearnedSearchesCache } from './learned-searches-cache.js';
export type { AnalyticsExecutor, AnalyticsResult, AnalyticsTask } from './tasks.js';
