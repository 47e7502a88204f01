/** Checks searches by vector: reads the scale of a list, and compares the cosine and score of each hit. */
import { Patience } from '../support/patience.js';
import { holdsTrue, same } from './difference.js';
import { bestCosine, COSINE_TOLERANCE, scoreOf, type Scale, type Vector } from './reference-vectors.js';
import type { ReplayState } from './replay-state.js';
import type { Hit, Searched } from './search-check.js';

/** Tolerance of scores, which have six digits and spread wider than cosines by a small factor. */
const SCORE_TOLERANCE = 0.02;

interface ExplainedHit extends Hit {
  readonly explain: {
    readonly sources?: readonly { readonly kind: string; readonly cosine?: number }[];
    readonly meaning?: Scale;
  };
}

interface Found {
  readonly results?: readonly ExplainedHit[];
  readonly applied?: { readonly meaning: string };
}
const WAIT_MS_MAX = 10_000;
const POLL_MS = 10;

/**
 * Returns the scale of a list; undefined if no record of the version has a vector. Searches for a record's own vector,
 * which always finds it.
 */
export async function scaleOf(state: ReplayState, { name, list, version }: Searched): Promise<Scale | undefined> {
  const vector = list.model === 'own' ? list.records.find(({ vectors }) => vectors.length > 0)?.vectors[0] : undefined;
  if (vector === undefined) return undefined;
  const sent = { vector, explain: true, exact: true, size: 1 };
  // Until a new index is ready, the service searches by words: wait for it.
  const patience = new Patience(WAIT_MS_MAX);
  const ask = async () => {
    const answer = await state.client.post(`/search/default/${name}/${version}`, sent);
    state.counted.searched(`list/${name}`, {}, answer);
    return answer.body as Found;
  };
  let body = await ask();
  while (body.applied !== undefined && body.applied.meaning !== 'used' && !patience.isOver()) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    body = await ask();
  }
  const { results } = body;
  const scale = results?.[0]?.explain.meaning;
  holdsTrue('what is near to the vector of a record', scale !== undefined, () => [body, vector]);
  const { farthest, nearest, floor } = scale as Scale;
  return { farthest, nearest, floor };
}

/** Checks hits that were requested with `explain`. */
export function checkCosines(hits: readonly Hit[], lists: readonly Searched[], vector: Vector, isAlone: boolean): void {
  for (const hit of hits as readonly ExplainedHit[]) {
    const searched = lists.find(({ name }) => name === (hit.list_name ?? lists[0]?.name));
    const record = searched?.list.find(hit.name);
    if (record === undefined || searched?.scale === undefined) continue;
    const said = hit.explain.sources?.find(({ kind }) => kind === 'meaning')?.cosine;
    const best = bestCosine(record, vector);
    // `explain` may omit a source that adds nothing to the score.
    if (said === undefined && best !== undefined && scoreOf(best - COSINE_TOLERANCE, searched.scale) === 0) continue;
    if (said === undefined || best === undefined) {
      same('a cosine of a record with vectors', [said, hit.name], [best, hit.name]);
      continue;
    }
    holdsTrue('cosine', Math.abs(said - best) <= COSINE_TOLERANCE, () => [said, best, hit.name, record.vectors]);
    if (!isAlone) continue;
    const score = scoreOf(best, searched.scale);
    const off = Math.abs((hit['@text_score'] ?? -1) - score);
    holdsTrue('score of what is near', off <= SCORE_TOLERANCE, () => [hit['@text_score'], score, hit.name]);
  }
}
