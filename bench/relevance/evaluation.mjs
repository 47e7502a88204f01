/** Computes measures of ranked results from relevance judgements. */

/** Returns nDCG at `depth` with linear gain (the grade itself) and log2 discount. `grades` maps document to grade. */
export function normalisedDiscountedGain(ranked, grades, depth) {
  const gain = (grade, index) => grade / Math.log2(index + 2);
  const found = ranked.slice(0, depth).reduce((sum, id, index) => sum + gain(grades.get(id) ?? 0, index), 0);
  const ideal = [...grades.values()]
    .sort((a, b) => b - a)
    .slice(0, depth)
    .reduce((sum, grade, index) => sum + gain(grade, index), 0);
  return ideal === 0 ? 0 : found / ideal;
}

/** Returns the share of the relevant documents among the first `depth`. */
export function recall(ranked, grades, depth) {
  const relevant = [...grades].filter(([, grade]) => grade > 0).map(([id]) => id);
  const found = new Set(ranked.slice(0, depth));
  return relevant.filter((id) => found.has(id)).length / relevant.length;
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
