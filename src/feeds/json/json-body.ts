/** Reads the body of an answer as JSON: one document, or one document per line. */
import { SourceFailedError } from '../source/source-run.js';
import { decodeText } from '../text/decoded-text.js';
import { Slices } from '../text/slices.js';
import { JsonTooMuchError, parseJsonInSlices, type JsonTally } from './json-in-slices.js';
import type { JsonValue } from './json-path.js';

/**
 * Resolves with the value. If the body has one document per line, `isLines` is true and the value is the array of them.
 * Rejects with a SourceFailedError that says what the body is instead, or with the reason of the slices.
 */
export async function readJsonBody(
  bytes: Uint8Array,
  { contentType = '', slices = new Slices() }: { readonly contentType?: string; readonly slices?: Slices } = {},
): Promise<{ readonly value: JsonValue; readonly isLines: boolean }> {
  const text = decodeText(bytes, contentType)
    .text.replace(/^\ufeff/, '')
    .trim();
  if (text === '') throw new SourceFailedError('The answer is empty; JSON was expected.');
  if (text.startsWith('<')) throw new SourceFailedError('The address gives a web page or XML; JSON was expected.');
  const whole = await parsed(text, slices);
  if (whole === undefined) return { value: await lines(text, slices), isLines: true };
  // A body with a single line may still be JSON by lines, which has only one line or was cut off after it.
  return { value: whole.value, isLines: OF_LINES.test(contentType) };
}

const OF_LINES = /\b(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines|ldjson)\b/i;
const NOT_JSON = 'The answer cannot be read as JSON.';

async function lines(text: string, slices: Slices): Promise<JsonValue[]> {
  const tally = { parts: 0, values: 0 };
  const values: JsonValue[] = [];
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('\n', start);
    if (end === -1) end = text.length;
    const line = text.slice(start, end).trim();
    if (slices.areOver) await slices.next();
    if (line === '') continue;
    tally.values += 1;
    const value = await parsed(line, slices, tally);
    // The lines after a bad one are not read: a line that is not JSON takes longer than one that is, and all the others
    // may be like it.
    if (value === undefined)
      throw new SourceFailedError(
        values.length === 0 ? NOT_JSON : `Line ${values.length + 1} of the answer cannot be read as JSON.`,
      );
    values.push(value.value);
  }
  return values;
}

async function parsed(
  text: string,
  slices: Slices,
  tally?: JsonTally,
): Promise<{ readonly value: JsonValue } | undefined> {
  try {
    return { value: await parseJsonInSlices(text, slices, { tally }) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if (error instanceof JsonTooMuchError)
      throw new SourceFailedError(`The answer is more than is read: ${error.message}.`, undefined, { cause: error });
    throw error;
  }
}
