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
import { previewSynonymRule, type PreviewedWord } from './synonym-preview.js';
import { checkedSynonymRule, checkedSynonymRules } from './synonym-rules.js';
import { synonymRule, synonymRules } from './synonym-schemas.js';

const MANAGED = 'managed';
/** Who may read or change the rules need not be allowed to read what is in the records. */
const READS_RECORDS = 'search-result:read';
const common = { callers: ['key', 'console', 'cli'], target: 'list', params: listParams } as const;
const rulesBody = object({ rules: synonymRules });

const read = defineOperation({
  ...common,
  name: 'synonym.read',
  summary: 'Read the synonym rules of a list',
  method: 'GET',
  path: '/list/synonyms/{account}/{list}',
  permission: 'synonym:read',
  responses: { 200: { description: 'All rules, as they were written', schema: rulesBody } },
  handle: ({ services }, { params }) => ({
    status: 200,
    body: { rules: requireList(services, params.account, params.list).synonym_rules },
  }),
});

const replace = defineOperation({
  ...common,
  name: 'synonym.update',
  tool: 'list_set_synonyms',
  summary: 'Replace all synonym rules of a list',
  description:
    'The rules take effect with the next search of the list, or of a group that has it as a member. An empty array removes all rules.',
  method: 'PUT',
  path: '/list/synonyms/{account}/{list}',
  permission: 'synonym:update',
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  bodyPartsMax: RULES_BODY_PARTS_MAX,
  body: rulesBody,
  responses: { 200: { description: 'The new rules', schema: rulesBody } },
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
  summary: 'List abbreviations in the records and what they stand for',
  description:
    'Finds abbreviations that the searchable fields of the current version spell out as `long form (ABC)` or `ABC (long form)`. Returns one entry for each meaning, most frequent first, at most 500.',
  method: 'GET',
  path: '/list/synonym-candidates/{account}/{list}',
  permission: 'synonym:read',
  responses: {
    200: {
      description: 'The abbreviations',
      schema: object({
        supported: Type.Boolean({
          description:
            'False if the engine of the list cannot report the words of its records, which is not the same as finding none',
        }),
        candidates: Type.Array(
          object({
            abbreviation: Type.String({ description: 'The abbreviation' }),
            sense: Type.String({ description: 'The long form, in its most frequent spelling' }),
            record_count: Type.Integer({
              minimum: 1,
              description: 'Number of records that spell the abbreviation out with this meaning',
            }),
            examples: Type.Array(Type.String(), {
              description: `Names of some of these records. Empty without the permission ${READS_RECORDS}`,
            }),
          }),
          { description: 'The abbreviations' },
        ),
      }),
    },
  },
  errors: ['overloaded', 'deadline'],
  async handle({ services, caller, signal }, { params }) {
    const list = requireList(services, params.account, params.list);
    if (list.engine !== MANAGED) return { status: 200, body: { supported: false, candidates: [] } };
    const index = await openIndex(services, list);
    const found = await services.synonymCandidates.find(index, signal);
    const shown = caller.can(READS_RECORDS) ? found : found.map((each) => ({ ...each, examples: [] }));
    return { status: 200, body: { supported: true, candidates: shown } };
  },
});

const { total_count, results } = searchResponse.properties;
const side = (description: string) =>
  object(
    { total_count, results },
    { description: `${description}. Without the permission ${READS_RECORDS}, the hits are only counted` },
  );

const preview = defineOperation({
  ...common,
  name: 'synonym.preview',
  tool: 'list_preview_synonym_rule',
  summary: 'Preview the effect of a synonym rule',
  description:
    'Searches the current version for each term of the rule twice: with the present rules, and with this rule added. Searches are those of the list, by meaning and in the order of its reranker if it has these. Nothing is saved, and nothing is counted.',
  method: 'POST',
  path: '/list/synonym-preview/{account}/{list}',
  permission: 'synonym:read',
  bodyBytesMax: LONG_OPTIONS_BODY_BYTES_MAX,
  body: synonymRule,
  responses: {
    200: {
      description: 'The two searches of each term',
      schema: object({
        changes_nothing: Type.Boolean({ description: 'Whether the rule changes no result' }),
        words: Type.Array(
          object({
            word: Type.String({ description: 'The term of the rule that was searched for' }),
            before: side('Result with the present rules'),
            after: side('Result with the rule added'),
            added: Type.Integer({
              description:
                'Number of records that are found additionally with the rule. Negative if the rule is for a phrase that takes precedence over rules for the words in it, which found more',
            }),
          }),
          { description: 'One entry for each term of the rule' },
        ),
      }),
    },
  },
  errors: ['overloaded', 'deadline'],
  async handle({ services, caller, signal }, { params, body }) {
    const rule = checkedSynonymRule(body);
    const list = requireList(services, params.account, params.list);
    const index = await openIndex(services, list);
    const { changes_nothing, words } = await previewSynonymRule(services, { list, index, rule }, signal);
    const shown = caller.can(READS_RECORDS) ? words : words.map(withoutHits);
    return { status: 200, body: { changes_nothing, words: shown } };
  },
});

function withoutHits(word: PreviewedWord): PreviewedWord {
  const { before, after } = word;
  return { ...word, before: { ...before, results: [] }, after: { ...after, results: [] } };
}

export const synonymOperations = [read, replace, candidates, preview];
