/**
 * Completes `explain` of a hit: adds to the kernel's sums what only the planner knows, namely the word of each group
 * and the reason why each term is in it.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { TEXT_KINDS } from '../../extracts/index.js';
import { pageAt } from '../../index/parts/part-layout.js';
import type { PlannedMeaning } from '../plan/meaning-plan.js';
import type { PlannedPictures } from '../plan/picture-plan.js';
import type { PlanAlternativeKind } from '../../../native-bindings/query-plan.js';
import type { QueryGroup, QueryNode } from '../plan/plan-nodes.js';

/** As the kernel writes it (kernel/engine/explain.cc). A phrase is its terms separated by blanks. */
interface ExplainedTerm {
  readonly term: string;
  readonly weight: number;
}
interface ExplainedGroup {
  readonly terms: readonly ExplainedTerm[];
}
export interface Explanation {
  readonly groups?: readonly ExplainedGroup[];
  /** If there are several kinds of score, what each kind found. */
  readonly sources?: readonly ExplainedSource[];
}
interface ExplainedSource {
  readonly kind: string;
  readonly groups?: readonly ExplainedGroup[];
  readonly place?: number;
}

type Nearness = Pick<PlannedPictures, 'floor' | 'farthest' | 'nearest' | 'wanted'>;

/** What was searched for, and with which parameters. */
export interface ExplainedSearch {
  readonly query: QueryNode;
  readonly meaning: PlannedMeaning | undefined;
  /** Names of the records whose vectors made the meaning. Undefined if it came from elsewhere. */
  readonly like: readonly string[] | undefined;
  /** True for a search by a picture: `meaning` then holds the search for pictures. */
  readonly isOfPictures: boolean;
  /** Undefined if there were no pages to search. */
  readonly pages: { readonly query: QueryNode } | undefined;
  /** Parameters of the search for pictures. Undefined if there was none. */
  readonly pictures: Nearness | undefined;
  readonly list: { readonly settings: { readonly definition: Pick<FieldDefinition, 'resources'> } };
}

const WEIGHT_DIGITS = 5;

/** Adds `word` to each group, `kind` to each of its terms, and the parameters of meaning and pictures. */
export function annotateExplanation(explanation: Explanation, search: ExplainedSearch): Explanation {
  const { query, meaning, like, pictures } = search;
  const words = { ...annotateSources(annotateWords(explanation, query), search), ...explainedPictures(pictures) };
  if (meaning === undefined) return words;
  const { calibratedOn } = meaning;
  if (search.isOfPictures) return { ...ofPictures(words), ...explainedPictures(meaning) };
  return {
    ...words,
    meaning: { ...nearness(meaning), calibrated_on: calibratedOn, ...(like === undefined ? {} : { like }) },
  } as Explanation;
}

/** Renames the source `meaning` to `image`: the kernel treats both as vectors. */
function ofPictures(explanation: Explanation): Explanation {
  const sources = explanation.sources?.map((source) =>
    source.kind === 'meaning' ? { ...source, kind: 'image' } : source,
  );
  return sources === undefined ? explanation : { ...explanation, sources };
}

function nearness({ floor, farthest, nearest, wanted }: Nearness): Nearness {
  return { farthest, nearest, floor, wanted };
}

function explainedPictures(pictures: ExplainedSearch['pictures']): object {
  return pictures === undefined ? {} : { pictures: nearness(pictures) };
}

function annotateSources(explanation: Explanation, { pages, list }: ExplainedSearch): Explanation {
  if (pages === undefined || explanation.sources === undefined) return explanation;
  const sources = explanation.sources.map((source) => {
    if (!TEXT_KINDS.some((kind) => kind === source.kind)) return source;
    const { place, ...found } = annotateWords(source, pages.query);
    const at = place === undefined ? undefined : pageAt(list.settings.definition, place);
    if (at === undefined || source.kind === 'document') return { ...found, ...at };
    return { ...found, field: at.field, passage: at.page };
  });
  return { ...explanation, sources };
}

function annotateWords<Explained extends Pick<Explanation, 'groups'>>(
  explanation: Explained,
  query: QueryNode,
): Explained {
  if (query.kind !== 'groups' || explanation.groups === undefined) return explanation;
  // The kernel lists the groups that a hit matches in query order.
  let next = 0;
  const kindOf = query.groups.map(kinds);
  const groups = explanation.groups.map((explained) => {
    const at = kindOf.findIndex(
      (kind, index) => index >= next && explained.terms.every((term) => kind(term) !== undefined),
    );
    if (at < 0) return explained;
    next = at + 1;
    const [typed] = (query.groups[at] as QueryGroup).alternatives;
    const terms = explained.terms.map((term) => ({ ...term, kind: kindOf[at]?.(term) }));
    return { word: typed?.terms.join(' '), ...explained, terms };
  });
  return { ...explanation, groups };
}

/** The key includes the weight: a term may also be in the group's phrase, or in two groups for different reasons. */
function kinds(group: QueryGroup): (term: ExplainedTerm) => PlanAlternativeKind | undefined {
  const byTerm = new Map(group.alternatives.map(({ kind, weight, terms }) => [keyOf(terms.join(' '), weight), kind]));
  return ({ term, weight }) => byTerm.get(keyOf(term, weight));
}

/** Rounded, since the kernel's weights are single-precision. */
function keyOf(term: string, weight: number): string {
  return `${weight.toFixed(WEIGHT_DIGITS)} ${term}`;
}
