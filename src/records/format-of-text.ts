/** Detects the format of records in a text. Also runs in browsers. */
export type RecordFormat = 'ndjson' | 'json' | 'csv';

const [OPEN_ARRAY, OPEN_OBJECT] = ['[', '{'];

/**
 * Corrects the format that a file's name suggests by the beginning of its text: many programs export lines of objects
 * in a file that ends in .json, and an array is not a line of records.
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
