/** The body of an answer as JSON: one document, or a document a line. */
import { parseExactJson } from '../../platform/index.js';
import { SourceFailedError } from '../source/source-run.js';
import { decodeText } from '../text/decoded-text.js';
import type { JsonValue } from './json-path.js';

/** Of lines their array. Throws a SourceFailedError that says what the body is instead. */
export function readJsonBody(bytes: Uint8Array, contentType = ''): JsonValue {
  const text = decodeText(bytes, contentType)
    .text.replace(/^\ufeff/, '')
    .trim();
  if (text === '') throw new SourceFailedError('The answer is empty; JSON was expected.');
  if (text.startsWith('<')) throw new SourceFailedError('The address gives a web page or XML; JSON was expected.');
  const whole = parsed(text);
  if (whole !== undefined) return whole.value;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length < 2) throw new SourceFailedError(NOT_JSON);
  const values: JsonValue[] = [];
  for (const line of lines) {
    const value = parsed(line);
    // What follows is not looked at: a line that is no JSON takes longer than one that is, and all may be such.
    if (value === undefined)
      throw new SourceFailedError(
        values.length === 0 ? NOT_JSON : `Line ${values.length + 1} of the answer cannot be read as JSON.`,
      );
    values.push(value.value);
  }
  return values;
}

const NOT_JSON = 'The answer cannot be read as JSON.';

function parsed(text: string): { readonly value: JsonValue } | undefined {
  try {
    return { value: parseExactJson(text) as JsonValue };
  } catch {
    return undefined;
  }
}
