/** Previews a synonym rule: searches for each of its terms without it and with it. */
import type { ListIndex } from '../../index/index.js';
import { uuidv7, type Cancellation } from '../../platform/index.js';
import type { SearchTask, SynonymRule } from '../../search/index.js';
import { parsedAnswer } from './parsed-answer.js';
import type { Services } from '../dispatch/services.js';

/** Hits shown of each search. */
const PREVIEW_SIZE = 10;
/** Limit on the fields of a record, which appears twice for each word. */
const PREVIEW_FIELDS_BYTES_MAX = 5_000;
/** Terms searched in parallel, so that a preview leaves room for searches. */
const TERMS_AT_A_TIME_MAX = 4;

interface SearchSide {
  readonly total_count: number;
  readonly results: readonly { readonly name: string }[];
}

interface PreviewedWord {
  readonly word: string;
  readonly before: SearchSide;
  readonly after: SearchSide;
  readonly added: number;
}

export interface PreviewSubject {
  readonly index: ListIndex;
  readonly account: string;
  readonly list: string;
  readonly rule: SynonymRule;
}

export async function previewSynonymRule(
  services: Services,
  { index, account, list, rule }: PreviewSubject,
  signal: Cancellation,
): Promise<{ readonly changes_nothing: boolean; readonly words: readonly PreviewedWord[] }> {
  const lease = index.lease();
  const search = async (query: string, extraSynonymRule: SynonymRule | undefined): Promise<SearchSide> => {
    const task: SearchTask = {
      kind: 'search',
      targets: [{ generation: lease.handle }],
      subject: { kind: 'list', name: list, version: lease.version },
      options: { query, size: PREVIEW_SIZE, fields_bytes_max: PREVIEW_FIELDS_BYTES_MAX },
      queryId: uuidv7(),
      ...(extraSynonymRule === undefined ? {} : { extraSynonymRule }),
    };
    const { total_count, results } = parsedAnswer(
      await services.searchPool.search(task, signal, account),
    ) as SearchSide;
    return { total_count, results };
  };
  try {
    const words: PreviewedWord[] = [];
    for (let first = 0; first < rule.terms.length; first += TERMS_AT_A_TIME_MAX) {
      const some = rule.terms.slice(first, first + TERMS_AT_A_TIME_MAX).map(async (word) => {
        const [before, after] = await all([search(word, undefined), search(word, rule)]);
        return { word, before, after, added: after.total_count - before.total_count };
      });
      words.push(...(await all(some)));
    }
    return { changes_nothing: words.every(({ before, after }) => isSame(before, after)), words };
  } finally {
    lease.release();
  }
}

/** Like Promise.all, but rejects only when all have settled, since they use the lease until then. */
async function all<const Values extends readonly unknown[]>(promises: {
  readonly [Index in keyof Values]: Promise<Values[Index]>;
}): Promise<Values> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Compares counts and order. Scores may change if a rule gives a word more to match. */
function isSame(before: SearchSide, after: SearchSide): boolean {
  return (
    before.total_count === after.total_count &&
    before.results.every(({ name }, place) => after.results[place]?.name === name)
  );
}
