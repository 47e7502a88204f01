/** Plans that no query gives: excluded words, phrases and weights of all kinds. What searches pass over has to bear them, too. */
import { kernel } from '../../native-bindings/index.js';
import { QueryPlanWriter, type PlanAlternative, type PlanGroup } from '../../native-bindings/query-plan.js';
import type { SeededRandom } from '../support/random.js';
import type { MadeList } from './made-lists.js';
import { madeQuery } from './made-texts.js';

const KINDS = ['typed', 'typed', 'compound', 'completion', 'split', 'typo', 'synonym'] as const;

/** The words of a made query, their parts, and the words with signs. */
function madeTerms(random: SeededRandom, list: MadeList): string[] {
  const tokens = kernel.analyse(madeQuery(random, list.vocabulary));
  return tokens.flatMap(({ term, parts = [], signed }) => [term, ...parts, ...(signed === undefined ? [] : [signed])]);
}

function madeAlternative(random: SeededRandom, terms: readonly string[], isFirst: boolean): PlanAlternative {
  const count = random.below(4) === 0 ? 2 + random.below(2) : 1;
  return {
    kind: isFirst ? 'typed' : random.pick(KINDS),
    weight: isFirst ? 1 : (1 + random.below(10)) / 10,
    terms: Array.from({ length: count }, () => random.pick(terms)),
  };
}

function madeGroup(random: SeededRandom, terms: readonly string[]): PlanGroup {
  const alternatives = random.below(2) === 0 ? 1 : 1 + random.below(12);
  return {
    occur: random.pick(['should', 'should', 'should', 'must', 'must', 'mustNot'] as const),
    boost: random.pick([1, 1, 0.5, 2.5]),
    alternatives: Array.from({ length: alternatives }, (_, at) => madeAlternative(random, terms, at === 0)),
  };
}

export function madePlan(random: SeededRandom, list: MadeList): Buffer {
  const terms = Array.from({ length: 3 }, () => madeTerms(random, list)).flat();
  if (terms.length === 0) terms.push('nothing');
  const groups = Array.from({ length: 1 + random.below(6) }, () => madeGroup(random, terms));
  const scoring = groups.flatMap(({ occur }, at) => (occur === 'mustNot' ? [] : [at]));
  const order = (length: number) => (scoring.length === 0 ? [] : Array.from({ length }, () => random.pick(scoring)));
  const fields = list.definition.searchable_fields.length;
  const plan = new QueryPlanWriter().write({
    needTotal: true,
    skip: 0,
    size: 0,
    proximityWeight: random.pick([0, 0.2, 1]),
    wholeFieldWeight: random.pick([0, 0.3, 1]),
    groups,
    sequence: order(random.below(8)),
    whole: order(random.below(4)),
    filter: random.below(3) === 0 ? { op: '<', column: PRICE, value: random.below(12) } : { op: 'all' },
    sort: [],
    facets: [],
    ...(random.below(4) === 0 && { textFields: [random.below(fields)] }),
    ...(random.below(5) === 0 && { distinct: PRODUCT }),
  });
  return Buffer.from(plan);
}

/** Columns are in the order of the facets. */
const PRICE = 2;
const PRODUCT = 6;
