/**
 * Rejects new links into media stores from a writer without access to them: the files could be read through the record.
 */
import { ServiceError, ERROR_VALUE_CHARACTERS_MAX } from '../../platform/index.js';
import { parseFields, type FieldValue, type StoredRecord } from '../../records/index.js';

/**
 * Applies to all fields: a text field may become a field of links later, and an array of one value may become that
 * value.
 */
const MEDIA_LINK = /^media:[\w-]+\//iu;

/** Throws `out-of-scope` if a field has a link into a media store that the previous record does not have. */
export function assertKeptLinks(
  fields: Readonly<Record<string, FieldValue>>,
  previous: StoredRecord | undefined,
): void {
  const links = linksIn(fields);
  if (links.length === 0) return;
  const kept = new Set(previous === undefined ? [] : linksIn(parseFields(previous.fieldsJson)).map(({ link }) => link));
  const added = links.find(({ link }) => !kept.has(link));
  if (added === undefined) return;
  const link = added.link.slice(0, ERROR_VALUE_CHARACTERS_MAX);
  throw new ServiceError(
    'out-of-scope',
    `The field '${added.field}' links to '${link}': files of media stores take a key that reaches the whole account and has the permission media:read.`,
  );
}

function linksIn(fields: Readonly<Record<string, FieldValue>>): { readonly field: string; readonly link: string }[] {
  return Object.entries(fields).flatMap(([field, value]) =>
    (Array.isArray(value) ? (value as readonly unknown[]) : [value])
      .filter((each): each is string => typeof each === 'string' && MEDIA_LINK.test(each))
      .map((link) => ({ field, link })),
  );
}
