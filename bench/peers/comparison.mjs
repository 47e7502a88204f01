/**
 * Checks that the engines find the same. Counts must be equal. Scores of the best ten, each divided by the first's, may
 * differ by rounding. Gannet has its own constants of BM25, so it is compared with Lucene under these. Scores are not compared for
 * queries whose kinds have no common definition of them: several phrases and words (idf of a phrase), and
 * alternatives.
 */
const TOLERANCE = 2e-5;
const KINDS_WITHOUT_COMMON_SCORES = ['two-phase', 'expanded'];

function sameScores(one, other) {
  if (one.length !== other.length) return false;
  return one.every(([, score], rank) => Math.abs(score / one[0][1] - other[rank][1] / other[0][1]) <= TOLERANCE);
}

/** Returns the constants of BM25 that an engine reports, in the form for Lucene's view. */
function constantsOf(engine) {
  const [, saturation, length] = /k1 ([\d.]+), b ([\d.]+)/.exec(engine.description);
  return `${saturation}:${length}`;
}

async function compare(lucene, engine, view, kind, range) {
  const found = await engine.show('TOP_10', view, range);
  const expected = await lucene.show('TOP_10', `${view}:${constantsOf(engine)}`, range);
  const counts = await engine.show('COUNT', view, range);
  const expectedCounts = await lucene.show('COUNT', view, range);
  return {
    counts: counts.filter(({ count }, i) => count !== expectedCounts[i].count).length,
    scores: KINDS_WITHOUT_COMMON_SCORES.includes(kind)
      ? 0
      : found.filter(({ hits }, i) => !sameScores(hits, expected[i].hits)).length,
    queries: counts.length,
  };
}

/** Returns a line for each engine that is compared with Lucene. */
export async function compareResults(engines, kinds) {
  const lucene = engines.find((engine) => engine.name === 'lucene');
  if (lucene === undefined) return 'Results were not compared: Lucene is not there.\n';
  let text = '';
  for (const engine of engines) {
    if (engine === lucene) continue;
    const sum = { queries: 0, counts: 0, scores: 0 };
    for (const [kind, range] of kinds) {
      for (const view of ['all', 'deleted']) {
        const part = await compare(lucene, engine, view, kind, range);
        for (const key of Object.keys(sum)) sum[key] += part[key];
      }
    }
    text += `${engine.name} against lucene: ${sum.queries} queries, ${sum.counts} other counts, ${sum.scores} other scores.\n`;
  }
  return text;
}
