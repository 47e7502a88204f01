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
      description: 'The text typed so far. Without it, there are no suggestions',
      examples: ['gann'],
    }),
  ),
  size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: SUGGESTIONS_MAX,
      description: `Most suggestions to return; default ${SUGGESTIONS_DEFAULT}`,
    }),
  ),
  typo_tolerance: Type.Optional(Type.Boolean({ description: 'Whether misspelt words are forgiven; default true' })),
});

const response = named(
  'Suggestions',
  {
    suggestions: Type.Array(
      object({
        text: Type.String({
          description:
            'Text to replace the typed text with. Words of the list are in lower case, with the diacritics that most records write',
        }),
        kind: oneOf(['record', 'query'], {
          description:
            '`record`: the name of a record; `query`: a text that others searched for successfully, or words of the list that give results together',
        }),
        highlight: Type.String({ description: 'The text: HTML-escaped, with the part that was not typed in `<em>`' }),
        record_count: Type.Optional(
          Type.Integer({ minimum: 1, description: 'Number of records with all of the words; only for `query`' }),
        ),
        list_name: Type.Optional(Type.String({ description: 'Name of the list of the record; only for a group' })),
      }),
      { description: 'The suggestions of both kinds, best first' },
    ),
    took_ms: Type.Number({ minimum: 0, description: 'Milliseconds that the suggestions took inside the service' }),
  },
  { description: 'Suggestions for a text that is being typed' },
);

const common = {
  description:
    'Suggests three things: texts that others searched for successfully and that begin with the typed text, most frequent first (only those that led to a click, if the list requires it); names of records that begin with the typed text, or that have a word which does; and completions of the last typed word that give results together with the words before it, written as in the records (`książki` for `ksiaz`), in lower case. Suggestions have no `query_id` and are not counted as searches in analytics, but each call counts against the search rate limit.',
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
  summary: 'Suggest texts from a list, with the options in the query string',
  method: 'GET',
  query: options,
  handle: (context, { params, query }) => suggest(context, listTargets(context, params), query),
});

const listByBody = defineOperation({
  ...ofList,
  name: 'suggest.list',
  summary: 'Suggest texts from a list',
  method: 'POST',
  body: options,
  handle: (context, { params, body }) => suggest(context, listTargets(context, params), body),
});

const groupByQuery = defineOperation({
  ...ofGroup,
  name: 'suggest.group-by-query',
  summary: 'Suggest texts from the lists of a group, with the options in the query string',
  method: 'GET',
  query: options,
  handle: (context, { params, query }) => suggest(context, groupTargets(context, params), query),
});

const groupByBody = defineOperation({
  ...ofGroup,
  name: 'suggest.group',
  summary: 'Suggest texts from the lists of a group',
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
