/** The text of a record that is embedded, and a hash that tells whether it has changed. Pure functions. */
import { createHash } from 'node:crypto';
import type { FieldDefinition } from '../catalog/index.js';
import type { FieldValue } from '../records/index.js';
import type { TextToEmbed } from './embedder.js';
import { HASH_BYTES } from './vector-codec.js';

/** The searchable field that stands for the record's name. */
const NAME_FIELD = 'name';

/** Returns the searchable fields in their order, with the first as the title; undefined if there is no text. */
export function textOfRecord(
  definition: FieldDefinition,
  { name, nameGenerated }: { readonly name: string; readonly nameGenerated: boolean },
  fields: Readonly<Record<string, FieldValue>>,
): TextToEmbed | undefined {
  const texts = definition.searchable_fields.flatMap((field) => {
    // A name that was made from the id has no meaning.
    const value = field.name === NAME_FIELD ? (nameGenerated ? undefined : name) : fields[field.name];
    const text = textOf(value).trim();
    return text === '' ? [] : [text];
  });
  const [title, ...rest] = texts;
  return title === undefined ? undefined : { title, text: rest.join('\n') };
}

/**
 * Returns a hash of the text and of the model: if it is equal, nothing has to be embedded again. The first HASH_BYTES
 * bytes of SHA-256.
 */
export function textHash(
  { title, text }: TextToEmbed,
  by: { readonly modelVersion: string; readonly dimensions: number | null },
): Buffer {
  const hash = createHash('sha256');
  // Each part is preceded by its length, so that different parts are never joined to the same bytes.
  for (const part of [by.modelVersion, String(by.dimensions), title, text]) hash.update(`${part.length}:`).update(part);
  return hash.digest().subarray(0, HASH_BYTES);
}

function textOf(value: FieldValue | undefined): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  return Array.isArray(value) ? value.join(', ') : '';
}
