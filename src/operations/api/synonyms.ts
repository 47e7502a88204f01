/** `/list/synonyms`, `/list/synonym-candidates`, `/list/synonym-preview`: the synonym rules of a list. */
import { Type } from 'typebox';
import { changeSettings, oneChangeAtATime, openIndex, requireList } from '../dispatch/list-access.js';
import {
  CONTENT_BODY_BYTES_MAX,
  defineOperation,
  LONG_OPTIONS_BODY_BYTES_MAX,
  RULES_BODY_PARTS_MAX,
} from '../dispatch/operation.js';
import { searchResponse } from './search-response.js';
import { listParams, object } from './schemas.js';
import { previewSynonymRule } from './synonym-preview.js';
import { checkedSynonymRule, checkedSynonymRules } from './synonym-rules.js';
import { synonymRule, synonymRules } from './synonym-schemas.js';

const MANAGED = 'managed';
const common = { callers: ['key', 'console', 'cli'], target: 'list', params: listParams } as const;
const rulesBody = object({ rules: synonymRules });

const read = defineOperation({
  ...common,
  name: 'synonym.read',
  summary: "The list's synonym rules",
  method: 'GET',
  path: '/list/synonyms/{account}/{list}',
  permission: 'synonym:read',
  responses: { 200: { description: 'All rules, as they were given', schema: rulesBody } },
  handle: ({ services }, { params }) => ({
    status: 200,
    body: { rules: requireList(services, params.account, params.list).synonym_rules },
  }),
});

const replace = defineOperation({
  ...common,
  name: 'synonym.update',
  tool: 'list_set_synonyms',
  summary: 'Replace all synonym rules of the list',
  description:
    'Takes effect with the next search of the list, or of a group that has it. An empty array removes all rules.',
  method: 'PUT',
  path: '/list/synonyms/{account}/{list}',
  permission: 'synonym:update',
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  bodyPartsMax: RULES_BODY_PARTS_MAX,
  body: rulesBody,
  responses: { 200: { description: 'The rules that are in force now', schema: rulesBody } },
  errors: ['storage-full', 'limit-reached'],
  handle: ({ services }, { params: { account, list: name }, body }) =>
    oneChangeAtATime(services, { account, name }, async () => {
      const stored = requireList(services, account, name);
      const rules = await checkedSynonymRules(body.rules, '/rules', stored);
      const index = await openIndex(services, stored);
      const record = await changeSettings(services, { list: stored, index }, { synonym_rules: rules });
      return { status: 200, body: { rules: record.synonym_rules } };
    }),
});

const candidates = defineOperation({
  ...common,
  name: 'synonym.candidates',
  tool: 'list_synonym_candidates',
  summary: 'Abbreviations in the records and what they stand for',
  description:
    'Found in the searchable text of the current version as `long form (ABC)` or `ABC (long form)`; one entry a sense, the most frequent first, at most 500.',
  method: 'GET',
  path: '/list/synonym-candidates/{account}/{list}',
  permission: 'synonym:read',
  responses: {
    200: {
      description: 'The candidates',
      schema: object({
        supported: Type.Boolean({ description: 'False where the words of the records cannot be read at all' }),
        candidates: Type.Array(
          object({
            abbreviation: Type.String(),
            sense: Type.String({ description: 'The long form, as it is written most often' }),
            record_count: Type.Integer({ minimum: 1, description: 'Records that spell it out in this sense' }),
            examples: Type.Array(Type.String(), { description: 'Names of some of these records' }),
          }),
        ),
      }),
    },
  },
  errors: ['overloaded', 'deadline'],
  async handle({ services, signal }, { params }) {
    const list = requireList(services, params.account, params.list);
    if (list.engine !== MANAGED) return { status: 200, body: { supported: false, candidates: [] } };
    const index = await openIndex(services, list);
    return { status: 200, body: { supported: true, candidates: await services.synonymCandidates.find(index, signal) } };
  },
});

const side = object({
  total_count: searchResponse.properties.total_count,
  results: searchResponse.properties.results,
});

const preview = defineOperation({
  ...common,
  name: 'synonym.preview',
  tool: 'list_preview_synonym_rule',
  summary: 'What a synonym rule would change',
  description:
    'Searches the current version for each term of the rule as it is now and as it would be with the rule on top of those in force. Nothing is saved.',
  method: 'POST',
  path: '/list/synonym-preview/{account}/{list}',
  permission: 'synonym:read',
  bodyBytesMax: LONG_OPTIONS_BODY_BYTES_MAX,
  body: synonymRule,
  responses: {
    200: {
      description: 'Both searches of each term',
      schema: object({
        changes_nothing: Type.Boolean({ description: 'Each search finds the same with the rule as without' }),
        words: Type.Array(
          object({
            word: Type.String({ description: 'A term of the rule' }),
            before: side,
            after: side,
            added: Type.Integer({
              description:
                'How many more records are found with the rule than without; below 0 where its phrase goes before the rules of the words in it, by which more were found',
            }),
          }),
        ),
      }),
    },
  },
  errors: ['overloaded', 'deadline'],
  async handle({ services, signal }, { params, body }) {
    const rule = checkedSynonymRule(body);
    const index = await openIndex(services, requireList(services, params.account, params.list));
    return {
      status: 200,
      body: await previewSynonymRule(services, { index, account: params.account, list: params.list, rule }, signal),
    };
  },
});

export const synonymOperations = [read, replace, candidates, preview];
