/**
 * Suggests synonyms: makes proposals of a list's searches and records, and tries each on the list before it is shown.
 * Main thread only.
 */
import { ANALYTICS, listTarget, reportRange } from '../analytics/index.js';
import type { ListRecord } from '../catalog/index.js';
import { meantModel } from '../vectors/index.js';
import type { ListIndex } from '../index/index.js';
import { MODELS, ModelError, type ChatModel } from '../models/index.js';
import { previewSynonymRule, synonymWords, type Services } from '../operations/index.js';
import { ServiceError, withSignal, type Cancellation } from '../platform/index.js';
import type { SynonymRule } from '../synonyms/index.js';
import { builtInProposals } from './built-in-proposals.js';
import { chatAsk, readProposals } from './chat-proposals.js';
import { checkedProposals } from './checked-proposals.js';
import { PROPOSALS } from './part.js';
import type { Evidence, Proposal } from './types.js';

export const PROPOSALS_MAX = 20;
/** Searches examined, of those with and of those without results. */
const TERMS_MAX = 200;
/** Limit on proposals tried until enough change something. */
const TRIED_MAX = 60;
const BUILT_IN = 'built-in';

export interface TriedProposal extends Proposal {
  /** Records that the rule adds to the results, for the term that gains most. */
  readonly added: number;
}

export interface Suggestion {
  readonly by: string;
  readonly proposals: readonly TriedProposal[];
  /** Why the model was not asked or did not answer. Null if there is nothing to say. */
  readonly note: string | null;
}

export interface SuggestionSubject {
  readonly list: ListRecord;
  readonly index: ListIndex;
  /** Name of a chat model. Null: no model. Undefined: the account's first one, if it has any. */
  readonly model: string | null | undefined;
}

/**
 * Rejects with `unprocessable` for a model that is not a chat model, `analytics-unavailable`, `overloaded`, `deadline`,
 * or the signal's reason.
 */
export async function suggestSynonyms(
  services: Services,
  subject: SuggestionSubject,
  signal: Cancellation,
): Promise<Suggestion> {
  const model = chatModel(services, subject);
  const evidence = await gathered(services, subject, signal);
  const asked = { services, subject, evidence, signal };
  if (model === undefined) return builtIn(asked, null);
  const { allowance } = services.part(PROPOSALS);
  const { account } = subject.list;
  const reserved = allowance.reserve(account, PROPOSALS_MAX);
  if (reserved === 0) {
    const { limit, resets_utc } = allowance.of(account);
    return builtIn(
      asked,
      `The account has had the ${limit} proposals of models that it may have in a week; the next week begins ${resets_utc}.`,
    );
  }
  // A cancelled request counts too.
  let used = 1;
  try {
    const proposals = await byModel(model, asked, reserved);
    used = Math.max(used, proposals.length);
    return { by: model.name, proposals, note: null };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    if (error.reason !== 'bad-answer') used = 0;
    return await builtIn(asked, `The model '${model.name}' was of no help: ${error.detail}`);
  } finally {
    await allowance.spend(account, reserved, used);
  }
}

interface Asked {
  readonly services: Services;
  readonly subject: SuggestionSubject;
  readonly evidence: Evidence;
  readonly signal: Cancellation;
}

async function builtIn(asked: Asked, note: string | null): Promise<Suggestion> {
  const proposals = builtInProposals(asked.evidence, synonymWords);
  return { by: BUILT_IN, proposals: await useful(asked, proposals, PROPOSALS_MAX), note };
}

/** Rejects with a ModelError if the model fails. */
async function byModel(model: ChatModel, asked: Asked, most: number): Promise<TriedProposal[]> {
  const { evidence, signal } = asked;
  // Without evidence no rule could be accepted, so the model is not asked.
  if (evidence.empty.length + evidence.abbreviations.length === 0) return [];
  const written = await withSignal(signal, (ended) => model.write({ ...chatAsk(evidence, most), signal: ended }));
  return useful(asked, readProposals(written, evidence, synonymWords), most);
}

/** Returns the proposals that change the list's results, tried in the way a person would preview them. */
async function useful(
  { services, subject: { index, list }, signal }: Asked,
  proposals: readonly Proposal[],
  most: number,
): Promise<TriedProposal[]> {
  const found: TriedProposal[] = [];
  for (const proposal of checkedProposals(proposals, synonymWords).slice(0, TRIED_MAX)) {
    if (found.length >= most) break;
    const { rule, basis } = proposal;
    const { words } = await previewSynonymRule(services, { list, index, rule, reranker: false }, signal);
    const gains = words.filter(({ before }) => basis.kind === 'abbreviation' || before.total_count === 0);
    const added = Math.max(0, ...gains.map((word) => word.added));
    if (added > 0) found.push({ ...proposal, added });
  }
  return found;
}

async function gathered(
  services: Services,
  { list, index }: SuggestionSubject,
  signal: Cancellation,
): Promise<Evidence> {
  const range = reportRange({}, services.clock.nowMs());
  const [abbreviations, { top_searches: searches, top_zero_result_searches: empty }] = await Promise.all([
    services.synonymCandidates.find(index, signal),
    services.part(ANALYTICS).report(listTarget(list), range, TERMS_MAX),
  ]);
  const inVain = new Map(empty.map(({ term, count }) => [term, count]));
  return {
    language: list.language,
    empty,
    successful: searches.filter(({ term, count }) => count > (inVain.get(term) ?? 0)),
    abbreviations,
    rules: list.synonym_rules as readonly SynonymRule[],
  };
}

function chatModel(services: Services, { list: { account }, model: name }: SuggestionSubject): ChatModel | undefined {
  if (name === null) return undefined;
  const models = services.part(MODELS);
  const chosen = name ?? models.of(account).find(({ kind }) => kind === 'chat')?.name;
  const model = chosen === undefined ? undefined : models.chat(account, chosen);
  if (model === undefined && name !== undefined)
    throw new ServiceError('unprocessable', `The account '${account}' has no model '${name}' of the kind chat.`, {
      meant: meantModel(services.indexes.models, account, name, (other) => models.chat(account, other) !== undefined),
    });
  return model;
}
