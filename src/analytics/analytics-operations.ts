/** Operations `/analytics` and `/search/analytics/click`: what people searched for, found, and clicked. */
import { Type } from 'typebox';
import { reachesGroupOnly, type Caller } from '../access/index.js';
import { presentMembers, type GroupMember, type GroupRecord } from '../catalog/index.js';
import { ServiceError } from '../platform/index.js';
import {
  accountName,
  defineOperation,
  groupParams,
  listParams,
  named,
  object,
  oneOf,
  requireGroup,
  patterned,
  requireList,
  type OperationContext,
  type OperationResult,
} from '../operations/index.js';
import { ANALYTICS_UNAVAILABLE } from './analytics-problems.js';
import { ANALYTICS } from './analytics.js';
import { RANGE_DAYS_MAX, REPORT_TERMS_MAX, reportRange } from './report-range.js';
import { groupTarget, listTarget, type AnalyticsTarget } from './targets.js';

const CALLERS = ['key', 'console', 'cli'] as const;
/** Longer ids and names cannot come from an answer of a search. */
const CLICK_TEXT_CHARACTERS_MAX = 4096;

const date = (description: string) =>
  patterned('^\\d{4}-\\d{2}-\\d{2}$', 'a date (yyyy-MM-dd)', { format: 'date', description, examples: ['2026-11-21'] });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const reportQuery = object({
  from: Type.Optional(
    date(
      `First day (UTC), included; default 29 days before \`to\`. A day after \`to\` becomes \`to\`; one that makes more than ${RANGE_DAYS_MAX} days is raised`,
    ),
  ),
  to: Type.Optional(date('Last day (UTC), included; default and latest: today')),
});

const terms = (description: string) =>
  Type.Array(object({ term: Type.String(), count: Type.Integer({ minimum: 1 }) }), {
    maxItems: REPORT_TERMS_MAX,
    description,
  });

const report = named('AnalyticsReport', {
  account: accountName,
  scope: oneOf(['list', 'group'], { description: 'What the report is about' }),
  target: Type.String({ description: 'Name of the list or group' }),
  from: date('First day of the range that was used'),
  to: date('Last day of the range that was used'),
  total_searches: count('Searches in the range; later pages of one are not counted'),
  zero_result_searches: count('Searches that ran and found nothing'),
  total_clicks: count('Clicks that were recorded'),
  click_through_rate: Type.Number({
    minimum: 0,
    description: 'total_clicks divided by total_searches, 0 without searches; may be more than 1',
  }),
  top_searches: terms('Most frequent first. Terms are compared without case and cut to 100 characters'),
  top_zero_result_searches: terms('Most frequent first, of the searches that found nothing'),
  daily: Type.Array(
    object({
      date: date('Day (UTC)'),
      searches: count('Searches of the day'),
      zero_result_searches: count('Those that found nothing'),
      clicks: count('Clicks of the day'),
    }),
    { description: 'Every day of the range, the first one first' },
  ),
  reranked_searches: count('Searches that a reranker ran on'),
  reranker_top_changed_rate: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Share of reranked searches whose first result became another one',
  }),
  reranker_mean_displacement: Type.Number({
    description: 'Mean places that shown results moved up; a reorder inside the page nets 0',
  }),
  reranker_click_lift: Type.Number({
    description: 'Mean places that the reranker moved clicked results up; 0 without a sample',
  }),
  reranker_lift_sample_size: count('Clicks behind reranker_click_lift'),
  catching_up: Type.Boolean({ description: 'True while older searches are still being counted: read again shortly' }),
});

const ofReport = {
  method: 'GET',
  permission: 'analytics:read',
  callers: CALLERS,
  query: reportQuery,
  responses: { 200: { description: 'The report', schema: report } },
  errors: [ANALYTICS_UNAVAILABLE],
} as const;

const readList = defineOperation({
  ...ofReport,
  name: 'analytics.list',
  tool: 'analytics_get_list',
  summary: 'What was searched for in a list',
  description:
    'Searches of the list itself and clicks on the list route; searches that came through a group are in the report of the group.',
  path: '/analytics/list/{account}/{list}',
  target: 'list',
  params: listParams,
  handle: (context, { params: { account, list }, query }) =>
    readReport(context, listTarget(requireList(context.services, account, list)), query, {
      account,
      scope: 'list',
      target: list,
    }),
});

const readGroup = defineOperation({
  ...ofReport,
  name: 'analytics.group',
  tool: 'analytics_get_group',
  summary: 'What was searched for in a group',
  description: 'Searches of the group and clicks on the group route.',
  path: '/analytics/group/{account}/{group}',
  target: 'group',
  params: groupParams,
  handle: (context, { params: { account, group }, query }) =>
    readReport(context, groupTarget(requireGroup(context.services, { account, group })), query, {
      account,
      scope: 'group',
      target: group,
    }),
});

const clickText = (description: string, example: string) =>
  Type.String({ maxLength: CLICK_TEXT_CHARACTERS_MAX, description, examples: [example] });

const click = {
  query_id: clickText(
    'The query_id of the search response; it is not compared with the searches that there were',
    '019aa4f2-8c1e-7d3a-9b42-6f0e5d4c3b2a',
  ),
  result_id: clickText('The name of the result that was clicked, not its id', 'film-17'),
};

const ofClick = {
  method: 'POST',
  permission: 'search-result:read',
  callers: CALLERS,
  rateLimit: 'search',
  admitsMissingTarget: true,
  responses: {
    204: {
      description: 'Accepted; an empty id, or a list or group that does not exist, records nothing',
      schema: null,
    },
  },
} as const;

const clickList = defineOperation({
  ...ofClick,
  name: 'analytics.click-list',
  tool: 'record_list_click',
  summary: 'Record a click on a result of a list',
  description:
    'Counts in the report of the list, even with the query_id of a group search, and teaches suggestions and related results. Spends the search allowance like a search.',
  path: '/search/analytics/click/list/{account}/{list}',
  target: 'list',
  params: listParams,
  body: object({ ...click, list_name: Type.Optional(Type.Unknown({ description: 'Ignored' })) }),
  handle({ services }, { params: { account, list }, body: { query_id, result_id } }) {
    const record = services.catalog.list(account, list);
    if (record !== undefined && !isBlank(query_id) && !isBlank(result_id)) {
      const timeMs = services.clock.nowMs();
      services.part(ANALYTICS).clicked(listTarget(record), { timeMs, queryId: query_id, resultName: result_id });
    }
    return { status: 204 };
  },
});

const clickGroup = defineOperation({
  ...ofClick,
  name: 'analytics.click-group',
  tool: 'record_group_click',
  summary: 'Record a click on a result of a group',
  description: 'Counts in the report of the group. Spends the search allowance like a search.',
  path: '/search/analytics/click/group/{account}/{group}',
  target: 'group',
  params: groupParams,
  body: object({
    ...click,
    list_name: Type.Optional(
      clickText(
        "The list_name of the result. Without it, the click counts toward click-through and not toward the reranker's lift",
        'films',
      ),
    ),
  }),
  handle({ services, caller }, { params: { account, group }, body: { query_id, result_id, list_name: list } }) {
    const record = services.catalog.group(account, group);
    if (record === undefined) return { status: 204 };
    const listName = list === undefined || isBlank(list) ? undefined : list;
    if (listName !== undefined) assertInGroup(record, listName, caller);
    if (!isBlank(query_id) && !isBlank(result_id)) {
      const event = { timeMs: services.clock.nowMs(), queryId: query_id, resultName: result_id };
      services.part(ANALYTICS).clicked(groupTarget(record), listName === undefined ? event : { ...event, listName });
    }
    return { status: 204 };
  },
});

export const analyticsOperations = [readList, readGroup, clickList, clickGroup];

async function readReport(
  { services }: OperationContext,
  target: AnalyticsTarget,
  given: { readonly from?: string; readonly to?: string },
  about: { readonly account: string; readonly scope: 'list' | 'group'; readonly target: string },
): Promise<OperationResult> {
  const figures = await services.part(ANALYTICS).report(target, reportRange(given, services.clock.nowMs()));
  return { status: 200, body: { ...about, ...figures } };
}

/**
 * Throws `invalid-parameter` unless a version of the group has the list. Any version counts, since earlier ones are
 * still searched by their number. A key of the group does not see lists that are gone.
 */
function assertInGroup(group: GroupRecord, listName: string, caller: Caller): void {
  const { name, versions } = group;
  const seen = (lists: readonly GroupMember[]) => (reachesGroupOnly(caller) ? presentMembers(group, lists) : lists);
  if (versions.some(({ lists }) => seen(lists).some(({ list }) => list === listName))) return;
  const detail = `The group '${name}' has no list '${listName}': list_name is the list_name of the result.`;
  throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/list_name', detail }] });
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
