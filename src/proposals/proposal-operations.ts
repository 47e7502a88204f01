/** `/list/synonym-proposals`: suggests synonym rules. */
import { Type } from 'typebox';
import { ANALYTICS_UNAVAILABLE } from '../analytics/index.js';
import {
  defineOperation,
  listParams,
  nullable,
  named,
  object,
  oneOf,
  openIndex,
  requireList,
  synonymRule,
  timeSchema,
} from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import { PROPOSALS, type ProposalsPart } from './part.js';
import { PROPOSALS_MAX, suggestSynonyms } from './suggested-synonyms.js';

const MANAGED = 'managed';
/** Limit on simultaneous suggestions: each runs many searches, and may wait for a model. */
const UNDER_WAY_MAX = 8;
const RETRY_AFTER_SECONDS = 5;
const MODEL_NAME_CHARACTERS_MAX = 64;

const proposal = named('SynonymProposal', {
  rule: synonymRule,
  basis: object(
    {
      kind: oneOf(['empty-search', 'abbreviation'], {
        description: '`empty-search`: a search that found nothing; `abbreviation`: one that the records spell out',
      }),
      text: Type.String({ description: 'The search text, or the abbreviation' }),
      count: Type.Integer({
        minimum: 1,
        description:
          'How often it was searched for in vain in the last 30 days, or in how many records it is spelt out',
      }),
    },
    { description: 'What in the list asks for the rule' },
  ),
  added: Type.Integer({
    minimum: 1,
    description: 'Records that the rule adds to what a search for one of its terms finds, for the term that gains most',
  }),
});

const suggestion = object({
  supported: Type.Boolean({ description: 'False if the words of the records cannot be read at all' }),
  by: Type.String({ description: 'Name of the model that proposed; `built-in`: none was asked, or none answered' }),
  proposals: Type.Array(proposal, { maxItems: PROPOSALS_MAX, description: 'Empty: no rule is needed' }),
  note: nullable(Type.String(), { description: 'Why a model was not asked, or was of no help; null otherwise' }),
  allowance: object(
    {
      used: Type.Integer({ minimum: 0, description: 'Proposals of models in this week' }),
      limit: Type.Integer({ minimum: 0, description: 'As many as the account may have in a week' }),
      resets_utc: timeSchema('When the next week begins'),
    },
    { description: "The account's AI allowance" },
  ),
});

const suggest = defineOperation({
  name: 'synonym.suggest',
  summary: 'Suggest synonym rules',
  description: `From the searches of the last 30 days that found nothing, matched against those that found something, and from abbreviations in the records: at most ${PROPOSALS_MAX} proposals, one for each meaning. Each is tried on the list, and left out if it would add no record. If the account has a model of the kind \`chat\`, it is shown these search texts and abbreviations, and proposes rules, on the account's weekly AI allowance. If it has none, if the allowance is used up, or if the model fails, the service proposes by itself. Nothing is saved.`,
  method: 'POST',
  path: '/list/synonym-proposals/{account}/{list}',
  // It uses up an allowance that belongs to those who may change rules.
  permission: 'synonym:update',
  callers: ['console', 'cli'],
  target: 'list',
  params: listParams,
  body: object({
    model: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: MODEL_NAME_CHARACTERS_MAX }), {
        description: "A model of the kind `chat`; default the account's first; null: none is asked",
      }),
    ),
  }),
  responses: { 200: { description: 'The proposals', schema: suggestion } },
  errors: ['list-not-found', 'unprocessable', ANALYTICS_UNAVAILABLE, 'overloaded', 'deadline', 'storage-full'],
  async handle({ services, signal }, { params: { account, list: name }, body: { model } }) {
    const list = requireList(services, account, name);
    const part = services.part(PROPOSALS);
    const isSupported = list.engine === MANAGED;
    const answer = isSupported
      ? await inTurn(part, async () => {
          const index = await openIndex(services, list);
          return suggestSynonyms(services, { list, index, model }, signal);
        })
      : { by: 'built-in', proposals: [], note: null };
    return { status: 200, body: { supported: isSupported, ...answer, allowance: part.allowance.of(account) } };
  },
});

async function inTurn<Result>(part: ProposalsPart, action: () => Promise<Result>): Promise<Result> {
  if (part.underWay >= UNDER_WAY_MAX) {
    const detail = `Synonyms are being suggested for ${UNDER_WAY_MAX} lists already; try again in ${RETRY_AFTER_SECONDS} seconds.`;
    throw new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  part.underWay += 1;
  try {
    return await action();
  } finally {
    part.underWay -= 1;
  }
}

export const proposalOperations = [suggest];
