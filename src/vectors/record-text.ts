/** What of a record is embedded, and what tells whether that has changed. Pure functions. */
import { createHash } from 'node:crypto';
import type { FieldDefinition } from '../catalog/index.js';
import type { FieldValue } from '../records/index.js';
import type { TextToEmbed } from './embedder.js';
import { HASH_BYTES } from './vector-codec.js';

/** The searchable field that stands for the record's name. */
const NAME_FIELD = 'name';

/** The searchable fields in their order, the first as the title. Undefined where there is no text. */
export function textOfRecord(
  definition: FieldDefinition,
  { name, nameGenerated }: { readonly name: string; readonly nameGenerated: boolean },
  fields: Readonly<Record<string, FieldValue>>,
): TextToEmbed | undefined {
  const texts = definition.searchable_fields.flatMap((field) => {
    // A name that was made from the id says nothing.
    const value = field.name === NAME_FIELD ? (nameGenerated ? undefined : name) : fields[field.name];
    const text = textOf(value).trim();
    return text === '' ? [] : [text];
  });
  const [title, ...rest] = texts;
  return title === undefined ? undefined : { title, text: rest.join('\n') };
}

/** Of the text and of what embeds it: equal ones need not be embedded again. HASH_BYTES bytes of SHA-256. */
export function textHash(
  { title, text }: TextToEmbed,
  by: { readonly modelVersion: string; readonly dimensions: number | null },
): Buffer {
  const hash = createHash('sha256');
  // Each with its length, so that no two are joined to the same.
  for (const part of [by.modelVersion, String(by.dimensions), title, text]) hash.update(`${part.length}:`).update(part);
  return hash.digest().subarray(0, HASH_BYTES);
}

function textOf(value: FieldValue | undefined): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  return Array.isArray(value) ? value.join(', ') : '';
}
