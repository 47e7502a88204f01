/**
 * Changes records of NDJSON on their way to the service, line by line, so that the service's line numbers are those of
 * the file. Also runs in browsers.
 */
import { parseExactJson } from '../platform/exact-json.js';
import { repeatedMember } from '../platform/json-members.js';

const LINE_FEED = 0x0a;
/** The first line of a file may begin with a byte order mark. */
const BYTE_ORDER_MARK = '\ufeff';
/** Members of a record beside `fields` that are not fields. */
const BESIDE_FIELDS: ReadonlySet<string> = new Set(['name', 'fields', 'as_of', 'vector', 'vectors']);

export type JsonObject = Readonly<Record<string, unknown>>;

/** Yields as many lines as the source has. */
export async function* changedLines(
  source: AsyncIterable<Uint8Array>,
  change: (line: string) => string | Promise<string>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let carried: Uint8Array[] = [];
  for await (const chunk of source) {
    const lines: string[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, begin)) {
      lines.push(await change(textOf([...carried, chunk.subarray(begin, end)])));
      carried = [];
      begin = end + 1;
    }
    if (begin < chunk.length) carried.push(Uint8Array.from(chunk.subarray(begin)));
    if (lines.length > 0) yield encoder.encode(`${lines.join('\n')}\n`);
  }
  if (carried.length > 0) yield encoder.encode(await change(textOf(carried)));
}

/** Decodes the text, keeping a byte order mark. */
function textOf(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode();
}

/**
 * Undefined if the line is not a record, or repeats a member: rewriting it would silently drop one of the two values.
 */
export function recordOfLine(line: string): JsonObject | undefined {
  const text = line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
  let record: unknown;
  try {
    record = parseExactJson(text);
  } catch {
    return undefined;
  }
  return isJsonObject(record) && repeatedMember(text, record) === undefined ? record : undefined;
}

/** Returns the fields of a wrapped record; undefined for a flat one, whose members are its fields. */
export function wrappedFields(record: JsonObject): JsonObject | undefined {
  const { fields } = record;
  return isJsonObject(fields) && Object.keys(record).every((member) => BESIDE_FIELDS.has(member)) ? fields : undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
