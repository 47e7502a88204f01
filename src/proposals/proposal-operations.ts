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

const proposal = named(
  'SynonymProposal',
  {
    rule: synonymRule,
    basis: object(
      {
        kind: oneOf(['empty-search', 'abbreviation'], {
          description:
            '`empty-search`: a search that found nothing; `abbreviation`: an abbreviation that records spell out',
        }),
        text: Type.String({ description: 'The search text or the abbreviation' }),
        count: Type.Integer({
          minimum: 1,
          description:
            'Number of searches for the text in the last 30 days that found nothing, or number of records that spell the abbreviation out',
        }),
      },
      { description: 'Why the rule is proposed' },
    ),
    added: Type.Integer({
      minimum: 1,
      description:
        'Number of records that a search for a term of the rule finds additionally; for the term that gains most',
    }),
  },
  { description: 'A synonym rule that is proposed' },
);

const suggestion = object({
  supported: Type.Boolean({ description: 'False if the engine of the list cannot report the words of its records' }),
  by: Type.String({
    description: 'Name of the model that proposed the rules. `built-in`: no model was asked, or none answered',
  }),
  proposals: Type.Array(proposal, {
    maxItems: PROPOSALS_MAX,
    description: 'The proposed rules. Empty if none is needed',
  }),
  note: nullable(Type.String(), {
    description: 'Why no model was asked, or why its answer was of no use. Null otherwise',
  }),
  allowance: object(
    {
      used: Type.Integer({
        minimum: 0,
        description: 'Number of times that models have proposed rules for the account this week',
      }),
      limit: Type.Integer({ minimum: 0, description: 'Number of times that models may do so in a week' }),
      resets_utc: timeSchema('Time at which the next week begins'),
    },
    { description: 'The weekly AI allowance of the account' },
  ),
});

const suggest = defineOperation({
  name: 'synonym.suggest',
  summary: 'Suggest synonym rules',
  description: `Proposes at most ${PROPOSALS_MAX} synonym rules, one for each meaning. They are derived from searches of the last 30 days that found nothing, matched against searches that found something, and from abbreviations in the records. Each rule is tried on the list, and left out if it would add no record. If the account has a model of the kind \`chat\`, the model gets these search texts and abbreviations and proposes the rules, which counts against the weekly AI allowance of the account. If there is no such model, if the allowance is used up, or if the model fails, the service derives the rules itself. Nothing is saved.`,
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
        description:
          'Name of a model of the kind `chat` to ask; default: the first one of the account. Null: no model is asked',
      }),
    ),
  }),
  responses: { 200: { description: 'The proposed rules', schema: suggestion } },
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
    const detail = `Synonyms are already being suggested for ${UNDER_WAY_MAX} lists; try again in ${RETRY_AFTER_SECONDS} seconds.`;
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
