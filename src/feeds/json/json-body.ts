/** The body of an answer as JSON: one document, or a document a line. */
import { SourceFailedError } from '../source/source-run.js';
import { decodeText } from '../text/decoded-text.js';
import { Slices } from '../text/slices.js';
import { JsonTooMuchError, parseJsonInSlices, type JsonTally } from './json-in-slices.js';
import type { JsonValue } from './json-path.js';

/** Of lines their array, of which `isLines` is true. Rejects with a SourceFailedError that says what the body is instead, or with the reason of the slices. */
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
  // Of lines one may be all that there is, or all that came.
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
    // What follows is not looked at: a line that is no JSON takes longer than one that is, and all may be such.
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
