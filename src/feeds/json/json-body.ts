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
  const values = lines.map(parsed);
  if (lines.length < 2 || values[0] === undefined) throw new SourceFailedError('The answer cannot be read as JSON.');
  return values.map((value, number) => {
    if (value === undefined) throw new SourceFailedError(`Line ${number + 1} of the answer cannot be read as JSON.`);
    return value.value;
  });
}

function parsed(text: string): { readonly value: JsonValue } | undefined {
  try {
    return { value: parseExactJson(text) as JsonValue };
  } catch {
    return undefined;
  }
}
