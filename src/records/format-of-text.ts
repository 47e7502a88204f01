/** Which of the formats of records a text is in. Runs in browsers, too. */
export type RecordFormat = 'ndjson' | 'json' | 'csv';

const [OPEN_ARRAY, OPEN_OBJECT] = ['[', '{'];

/**
 * The format of a file whose name tells it, by how its text begins: exports of many programs are lines of objects and have a name that ends in
 * .json, and an array is no line of records.
 */
export function formatOfText(named: RecordFormat, begin: Uint8Array): RecordFormat {
  if (named === 'csv') return named;
  const text = new TextDecoder().decode(begin).trimStart();
  if (named === 'ndjson') return text.startsWith(OPEN_ARRAY) ? 'json' : named;
  return text.startsWith(OPEN_OBJECT) && isWhole(text.split('\n', 1)[0] ?? '') ? 'ndjson' : named;
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
