/** The terms that set a record apart from the others of its list. Pure. */

export interface SignificantTerm {
  readonly term: string;
  /** 0 exclusive to 1; the most significant has 1. */
  readonly weight: number;
}

/** A term that only the record itself holds finds nothing else. */
const DOCUMENT_FREQUENCY_MIN = 2;
/** A term of more than this share of the records sets nothing apart. */
const DOCUMENT_SHARE_MAX = 0.5;

/**
 * By falling tf·idf, with tf damped by its logarithm so that one word repeated does not outweigh all others. In a list where
 * every term is rare or common (a few records), whatever other records hold counts.
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
