/** Operations `/analytics` and `/search/analytics/click`: what people searched for, found, and clicked. */
import { Type } from 'typebox';
import { reachesGroupOnly, type Caller } from '../access/index.js';
import { presentMembers, type GroupMember, type GroupRecord, type ListRecord } from '../catalog/index.js';
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
      `First day of the report (UTC), inclusive. Default: 29 days before \`to\`. A day after \`to\` becomes \`to\`; a day that makes the range longer than ${RANGE_DAYS_MAX} days is raised to fit`,
    ),
  ),
  to: Type.Optional(date('Last day of the report (UTC), inclusive. Default: today; a later day becomes today')),
});

const terms = (description: string) =>
  Type.Array(
    object({
      term: Type.String({ description: 'The search text' }),
      count: Type.Integer({ minimum: 1, description: 'Number of searches for it' }),
    }),
    { maxItems: REPORT_TERMS_MAX, description },
  );

const report = named(
  'AnalyticsReport',
  {
    account: accountName,
    scope: oneOf(['list', 'group'], { description: 'Whether the report is about a list or a group' }),
    target: Type.String({ description: 'Name of the list or group' }),
    from: date('First day of the range that was used (UTC)'),
    to: date('Last day of the range that was used (UTC)'),
    total_searches: count('Number of searches in the range. Later pages of a search (`skip` above 0) are not counted'),
    zero_result_searches: count('Number of searches that found nothing'),
    total_clicks: count('Number of clicks that were recorded'),
    click_through_rate: Type.Number({
      minimum: 0,
      description:
        '`total_clicks` divided by `total_searches`, as a fraction; it may exceed 1. 0 if there were no searches',
    }),
    top_searches: terms(
      'Search texts, most frequent first. Texts are compared ignoring case, and cut to 100 characters',
    ),
    top_zero_result_searches: terms('Texts of searches that found nothing, most frequent first'),
    daily: Type.Array(
      object({
        date: date('Day (UTC)'),
        searches: count('Number of searches on this day'),
        zero_result_searches: count('Number of searches on this day that found nothing'),
        clicks: count('Number of clicks on this day'),
      }),
      { description: 'Figures for every day of the range, oldest first' },
    ),
    reranked_searches: count('Number of searches whose results a reranker ordered'),
    reranker_top_changed_rate: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Fraction of the reranked searches, from 0 to 1, whose first result changed',
    }),
    reranker_mean_displacement: Type.Number({
      description:
        'Mean number of places that the shown results moved up. Changes of order within the page sum up to 0',
    }),
    reranker_click_lift: Type.Number({
      description:
        'Mean number of places that the reranker moved clicked results up: positive is better. 0 if `reranker_lift_sample_size` is 0',
    }),
    reranker_lift_sample_size: count('Number of clicks that `reranker_click_lift` is computed from'),
    catching_up: Type.Boolean({
      description: 'True while older searches are still being counted: read the report again shortly',
    }),
  },
  { description: 'Report on the searches and clicks of a list or group over a range of days' },
);

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
  summary: 'Read the analytics report of a list',
  description:
    'Counts searches of the list itself, and clicks that were recorded for the list. Searches through a group are in the report of the group.',
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
  summary: 'Read the analytics report of a group',
  description: 'Counts searches of the group, and clicks that were recorded for the group.',
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
    '`query_id` of the answer of the search. It is not checked against past searches',
    '019aa4f2-8c1e-7d3a-9b42-6f0e5d4c3b2a',
  ),
  result_id: clickText('`name` of the hit that was clicked, not its `id`', 'film-17'),
};

const ofClick = {
  method: 'POST',
  permission: 'search-result:read',
  callers: CALLERS,
  rateLimit: 'search',
  admitsMissingTarget: true,
  responses: {
    204: {
      description:
        'The click was accepted. If `query_id` or `result_id` is blank, or the list or group does not exist, nothing is recorded',
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
    'The click counts in the report of the list, even with the `query_id` of a group search, and improves suggestions and related records. The call counts against the search rate limit.',
  path: '/search/analytics/click/list/{account}/{list}',
  target: 'list',
  params: listParams,
  body: object({ ...click, list_name: Type.Optional(Type.Unknown({ description: 'Ignored for a list' })) }),
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
  description: 'The click counts in the report of the group. The call counts against the search rate limit.',
  path: '/search/analytics/click/group/{account}/{group}',
  target: 'group',
  params: groupParams,
  body: object({
    ...click,
    list_name: Type.Optional(
      clickText(
        '`list_name` of the hit; a list that is not in the group is refused (400). Without it, the click counts toward the click-through rate, but not toward `reranker_click_lift`',
        'films',
      ),
    ),
  }),
  handle({ services, caller }, { params: { account, group }, body: { query_id, result_id, list_name: list } }) {
    const record = services.catalog.group(account, group);
    if (record === undefined) return { status: 204 };
    const listName = list === undefined || isBlank(list) ? undefined : list;
    if (listName !== undefined)
      assertInGroup({ group: record, list: services.catalog.list(account, listName) }, listName, caller);
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

interface NamedList {
  readonly group: GroupRecord;
  /** The list that has the name now. */
  readonly list: ListRecord | undefined;
}

/**
 * Throws `invalid-parameter` unless a version of the group has the list. Any version counts, since earlier ones are
 * still searched by their number; a list that has taken the name of a member is no member. A key of the group does not
 * see lists that have left it.
 */
function assertInGroup({ group, list: named }: NamedList, listName: string, caller: Caller): void {
  const { name, versions } = group;
  const seen = (lists: readonly GroupMember[]) => (reachesGroupOnly(caller) ? presentMembers(group, lists) : lists);
  if (named !== undefined && versions.some(({ lists }) => seen(lists).some(({ list_id: id }) => id === named.id)))
    return;
  const detail = `The group '${name}' has no list '${listName}'. Give the list_name of the hit that was clicked.`;
  throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/list_name', detail }] });
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
