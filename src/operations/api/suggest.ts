/** `/suggest`: suggestions while somebody types, in one list or in the lists of a group. */
import { Type, type Static } from 'typebox';
import type { ListRecord } from '../../catalog/index.js';
import type { SearchTarget, SuggestTarget } from '../../search/index.js';
import { defineOperation, type OperationContext, type OperationResult } from '../dispatch/operation.js';
import { named, object, oneOf } from './schemas.js';
import {
  groupSearchParams,
  groupTargets,
  listSearchParams,
  listTargets,
  type OpeningTargets,
} from './search-targets.js';

const SUGGESTIONS_DEFAULT = 8;
const SUGGESTIONS_MAX = 50;
const QUERY_CHARACTERS_MAX = 1000;

const options = object({
  query: Type.Optional(
    Type.String({
      maxLength: QUERY_CHARACTERS_MAX,
      description: 'What was typed so far; nothing: no suggestion',
      examples: ['gann'],
    }),
  ),
  size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: SUGGESTIONS_MAX,
      description: `Suggestions wanted; default ${SUGGESTIONS_DEFAULT}`,
    }),
  ),
  typo_tolerance: Type.Optional(Type.Boolean({ description: 'Forgive misspellings; default true' })),
});

const response = named('Suggestions', {
  suggestions: Type.Array(
    object({
      text: Type.String({ description: 'What to put in the place of what was typed' }),
      kind: oneOf(['record', 'query'], {
        description:
          '`record`: the name of a record; `query`: what others searched for and found, or words of the list that give results together',
      }),
      highlight: Type.String({ description: 'The text, HTML-escaped, with what was not typed in <em>' }),
      record_count: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Records with all of the words; of a query' }),
      ),
      list_name: Type.Optional(Type.String({ description: 'The list of the record; on a group' })),
    }),
    { description: 'Best first; names and queries share the places' },
  ),
  took_ms: Type.Number({ minimum: 0, description: 'Milliseconds inside the search worker' }),
});

const common = {
  description:
    'What others searched for and found that goes on as was typed, the most frequent first (only what led to a click, where the list says so); names of records that begin with what was typed or have a word that does; and completions of its last word that give results with the words before. Without a query_id: suggestions are not counted as searches, but spend the search allowance like one.',
  permission: 'search-result:read',
  callers: ['key', 'console', 'cli'],
  rateLimit: 'search',
  responses: { 200: { description: 'The suggestions', schema: response, headers: ['Server-Timing'] } },
  errors: ['version-not-found', 'answer-too-large', 'overloaded', 'deadline'],
} as const;
const ofList = {
  ...common,
  path: '/suggest/{account}/{list}/{version}',
  target: 'list',
  params: listSearchParams,
} as const;
const ofGroup = {
  ...common,
  path: '/suggest/group/{account}/{group}/{version}',
  target: 'group',
  params: groupSearchParams,
  errors: [...common.errors, 'list-not-found'],
} as const;

const listByQuery = defineOperation({
  ...ofList,
  name: 'suggest.list-by-query',
  summary: 'Suggestions from a list, with the options in the query string',
  method: 'GET',
  query: options,
  handle: (context, { params, query }) => suggest(context, listTargets(context, params), query),
});

const listByBody = defineOperation({
  ...ofList,
  name: 'suggest.list',
  summary: 'Suggestions from a list',
  method: 'POST',
  body: options,
  handle: (context, { params, body }) => suggest(context, listTargets(context, params), body),
});

const groupByQuery = defineOperation({
  ...ofGroup,
  name: 'suggest.group-by-query',
  summary: 'Suggestions from the lists of a group, with the options in the query string',
  method: 'GET',
  query: options,
  handle: (context, { params, query }) => suggest(context, groupTargets(context, params), query),
});

const groupByBody = defineOperation({
  ...ofGroup,
  name: 'suggest.group',
  summary: 'Suggestions from the lists of a group',
  method: 'POST',
  body: options,
  handle: (context, { params, body }) => suggest(context, groupTargets(context, params), body),
});

export const suggestOperations = [listByQuery, listByBody, groupByQuery, groupByBody];

async function suggest(
  { services, signal }: OperationContext,
  opening: OpeningTargets,
  given: Static<typeof options>,
): Promise<OperationResult> {
  const { targets, lists, account, release } = await opening;
  try {
    const { query = '', size = SUGGESTIONS_DEFAULT, typo_tolerance: typoTolerance = true } = given;
    const answer = await services.searchPool.search(
      {
        kind: 'suggest',
        targets: targets.map((target, index) => withLearned(target, lists[index])),
        options: { query, size, typoTolerance },
      },
      signal,
      account,
    );
    return {
      status: 200,
      body: answer.body,
      ...(answer.room === undefined ? {} : { room: answer.room }),
      headers: { 'Server-Timing': `suggest;dur=${answer.workerMs.toFixed(3)}` },
    };
  } finally {
    release();
  }
}

function withLearned(target: SearchTarget, list: ListRecord | undefined): SuggestTarget {
  if (list === undefined) return target;
  return { ...target, learned: { listId: list.id, requireClick: list.suggestions.require_click } };
}
