/** Which files a record links to, of the kinds that are read. */
import type { FieldDefinition } from '../catalog/index.js';
import type { ListState } from '../store/index.js';
import type { ReadKind } from './file-reader.js';

/** A file that is read, and as what: a link may be that of a document in one field, and of a picture in another. */
export interface FileToRead {
  readonly kind: ReadKind;
  /** `https:…` or `media:<store>/<path>`. */
  readonly url: string;
}

export interface LinkedFile extends FileToRead {
  /** The resource field, whose value the URL is. */
  readonly field: string;
}

/** Kinds of resources whose files are read of a list. */
export function readKindsOf({ pictures }: Pick<ListState, 'pictures'>): readonly ReadKind[] {
  return pictures === undefined ? ['document'] : ['document', 'image'];
}

type Resources = Pick<FieldDefinition, 'resources'>;

export function hasFiles({ resources }: Resources, kinds: readonly ReadKind[]): boolean {
  return resources.some(({ kind }) => kinds.some((each) => each === kind));
}

/** Pages of documents are searched by words, whatever the list has beside. */
export function hasDocuments(definition: Resources): boolean {
  return hasFiles(definition, ['document']);
}

/** In the order of the definition. */
export function linkedFiles(
  { resources }: Resources,
  fields: Readonly<Record<string, unknown>>,
  kinds: readonly ReadKind[],
): LinkedFile[] {
  const linked: LinkedFile[] = [];
  for (const { name, kind: of } of resources) {
    const url = fields[name];
    const kind = kinds.find((each) => each === of);
    // A lenient version may hold what does not fit its definition.
    if (kind !== undefined && typeof url === 'string' && url !== '') linked.push({ field: name, kind, url });
  }
  return linked;
}

export function linkedDocuments(definition: Resources, fields: Readonly<Record<string, unknown>>): LinkedFile[] {
  return linkedFiles(definition, fields, ['document']);
}
