/** Which files a record links to, of the kinds that are read. */
import type { FieldDefinition } from '../catalog/index.js';
import type { ListState } from '../store/index.js';
import { READ_KINDS, RECORDING_KINDS, TEXT_KINDS, type ReadKind, type TextKind } from './file-reader.js';

/** A file that is read, and as what: a link may be that of a document in one field, and of a picture in another. */
export interface FileToRead<Kind extends ReadKind = ReadKind> {
  readonly kind: Kind;
  /** `https:…` or `media:<store>/<path>`. */
  readonly url: string;
}

export interface LinkedFile<Kind extends ReadKind = ReadKind> extends FileToRead<Kind> {
  /** The resource field, whose value the URL is. */
  readonly field: string;
}

/** Kinds of resources whose files are read of a list. */
export function readKindsOf({ pictures }: Pick<ListState, 'pictures'>): readonly ReadKind[] {
  return pictures === undefined ? TEXT_KINDS : READ_KINDS;
}

type Resources = Pick<FieldDefinition, 'resources'>;

export function hasFiles({ resources }: Resources, kinds: readonly ReadKind[]): boolean {
  return resources.some(({ kind }) => kinds.some((each) => each === kind));
}

/** Pages of documents and what is said in recordings are searched by words, whatever the list has beside. */
export function hasTexts(definition: Resources): boolean {
  return hasFiles(definition, TEXT_KINDS);
}

export function hasRecordings(definition: Resources): boolean {
  return hasFiles(definition, RECORDING_KINDS);
}

/** In the order of the definition. */
export function linkedFiles<Kind extends ReadKind>(
  { resources }: Resources,
  fields: Readonly<Record<string, unknown>>,
  kinds: readonly Kind[],
): LinkedFile<Kind>[] {
  const linked: LinkedFile<Kind>[] = [];
  for (const { name, kind: of } of resources) {
    const url = fields[name];
    const kind = kinds.find((each) => each === of);
    // A lenient version may hold what does not fit its definition.
    if (kind !== undefined && typeof url === 'string' && url !== '') linked.push({ field: name, kind, url });
  }
  return linked;
}

/** Those that are searched by words. */
export function linkedTexts(definition: Resources, fields: Readonly<Record<string, unknown>>): LinkedFile<TextKind>[] {
  return linkedFiles(definition, fields, TEXT_KINDS);
}

/** What the files of a resource field are read as; undefined where they are not searched by words. */
export function textKindOf({ resources }: Resources, field: string): TextKind | undefined {
  const kind = resources.find(({ name }) => name === field)?.kind;
  return TEXT_KINDS.find((each) => each === kind);
}
