/** Which words of a search are marked, and in which fields; the marking itself is the kernel's. */
import type { Kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import type { RecordParts } from '../../records/index.js';
import type { QueryNode } from '../plan/plan-nodes.js';

export interface HighlightSpec {
  /** Searchable fields; `name` is the record's own name. */
  readonly fieldNames: readonly string[];
  readonly terms: readonly string[];
  readonly phrases: readonly (readonly string[])[];
}

const NOTHING = '{}';
const OPEN = Buffer.from('{');
const CLOSE = Buffer.from('}');
const COMMA = Buffer.from(',');
const EMPTY_OBJECT_BYTES = 2;

/** Every alternative is marked, typos, stems and synonyms too; words that must not occur are not. */
export function highlightSpec(query: QueryNode, fieldNames: readonly string[]): HighlightSpec {
  const terms = new Set<string>();
  const phrases: (readonly string[])[] = [];
  if (query.kind === 'groups') {
    for (const group of query.groups) {
      if (group.occur === 'must-not') continue;
      for (const alternative of group.alternatives) {
        if (alternative.terms.length > 1) phrases.push(alternative.terms);
        else terms.add(alternative.terms[0] as string);
      }
    }
  }
  // The kernel keeps what it made of frozen terms from one record of an answer to the next.
  return Object.freeze({ fieldNames, terms: Object.freeze([...terms]), phrases: Object.freeze(phrases) });
}

/** A JSON object: field name → passage. `{}` where nothing is marked. */
export function highlightRecord(kernel: Kernel, spec: HighlightSpec, parts: RecordParts): string {
  if (spec.terms.length === 0 && spec.phrases.length === 0) return NOTHING;
  const { fieldNames, terms, phrases } = spec;
  const fields = fieldNames.includes('name') ? withName(parts) : parts.fields;
  return (
    kernel.highlight(fields, fieldNames, terms, phrases) ??
    kernel.highlight(segmented(fields, fieldNames), fieldNames, terms, phrases) ??
    NOTHING
  );
}

/** The fields with the members of the head (`id` and `name`) before them, so that the name is marked like a field. */
function withName({ head, fields }: RecordParts): Uint8Array {
  if (fields.length <= EMPTY_OBJECT_BYTES) return Buffer.concat([OPEN, head, CLOSE]);
  return Buffer.concat([OPEN, head, COMMA, fields.subarray(1)]);
}

/** The same fields with U+200B between the words of scripts without spaces, as the write side put it for indexing. */
function segmented(fields: Uint8Array, fieldNames: readonly string[]): Uint8Array {
  const record = JSON.parse(Buffer.from(fields.buffer, fields.byteOffset, fields.byteLength).toString()) as Record<
    string,
    unknown
  >;
  const wanted = fieldNames.flatMap((name) =>
    Object.hasOwn(record, name) ? [[name, segmentedValue(record[name])] as const] : [],
  );
  return Buffer.from(JSON.stringify(Object.fromEntries(wanted)));
}

function segmentedValue(value: unknown): unknown {
  if (typeof value === 'string') return segmentForKernel(value);
  if (Array.isArray(value)) return value.map(segmentedValue);
  return value;
}
