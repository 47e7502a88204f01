/** Selects the terms that distinguish a record from others of its list. Pure function. */

export interface SignificantTerm {
  readonly term: string;
  /** In (0, 1]; the most significant term has 1. */
  readonly weight: number;
}

/** A term that only the record itself has finds nothing else. */
const DOCUMENT_FREQUENCY_MIN = 2;
/** A term in more than this share of the records distinguishes nothing. */
const DOCUMENT_SHARE_MAX = 0.5;

/**
 * Returns terms by falling tf·idf, with a logarithmic tf so that one repeated word does not outweigh all others. If
 * every term is rare or common, as in a list of a few records, all terms that other records have are used.
 */
export function significantTerms(
  frequencies: ReadonlyMap<string, number>,
  documentFrequencies: ArrayLike<number>,
  documentCount: number,
  termsMax: number,
): SignificantTerm[] {
  const scored = Array.from(frequencies, ([term, frequency], index) => {
    const documents = documentFrequencies[index] ?? 0;
    const idf = Math.log(1 + documentCount / Math.max(1, documents));
    return { term, documents, score: (1 + Math.log(frequency)) * idf };
  }).filter(({ documents }) => documents >= DOCUMENT_FREQUENCY_MIN);
  const rare = scored.filter(({ documents }) => documents <= documentCount * DOCUMENT_SHARE_MAX);
  const chosen = (rare.length > 0 ? rare : scored)
    .sort((a, b) => b.score - a.score || (a.term < b.term ? -1 : 1))
    .slice(0, termsMax);
  const best = chosen[0]?.score ?? 1;
  return chosen.map(({ term, score }) => ({ term, weight: score / best }));
}
