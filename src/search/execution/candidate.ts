/** Converts a hit into what a reranker reads. Pure functions. */
import type { FieldDefinition } from '../../catalog/index.js';
import { parseFields, type RecordParts } from '../../records/index.js';
import { textOfRecord } from '../../vectors/record-text.js';
import type { Candidates } from '../types.js';

/** Characters kept of one text: a reranker reads at most 512 tokens of query and text together. */
const TEXT_CHARACTERS_MAX = 2000;

type Candidate = Candidates['hits'][number];

/**
 * Returns the candidate. A record that was removed after the search gets an empty name and text, so that it keeps its
 * place.
 */
export function candidateOf(
  parts: RecordParts | undefined,
  of: { readonly definition: FieldDefinition; readonly listName: string | undefined; readonly isRead: boolean },
): Candidate {
  const named = of.listName === undefined ? {} : { listName: of.listName };
  if (parts === undefined) return { name: '', ...named, ...(of.isRead ? { text: '' } : {}) };
  const record = parts.stored();
  if (!of.isRead) return { name: record.name, ...named };
  const { title = '', text = '' } = textOfRecord(of.definition, record, parseFields(record.fieldsJson)) ?? {};
  return { name: record.name, ...named, text: `${title}\n${text}`.trim().slice(0, TEXT_CHARACTERS_MAX) };
}
