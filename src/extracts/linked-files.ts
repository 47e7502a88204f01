/** Determines which files a record links to, of the kinds that are read. */
import type { FieldDefinition } from '../catalog/index.js';
import type { ListState } from '../store/index.js';
import { READ_KINDS, RECORDING_KINDS, TEXT_KINDS, type ReadKind, type TextKind } from './file-reader.js';

/** A file and the kind as which it is read. A URL may be a document in one field and a picture in another. */
export interface FileToRead<Kind extends ReadKind = ReadKind> {
  readonly kind: Kind;
  /** `https:…` or `media:<store>/<path>`. */
  readonly url: string;
}

export interface LinkedFile<Kind extends ReadKind = ReadKind> extends FileToRead<Kind> {
  /** Name of the resource field whose value is the URL. */
  readonly field: string;
}

const WITHOUT_FRAMES: readonly ReadKind[] = READ_KINDS.filter((kind) => kind !== 'frames');

/** Kinds as which the files of a list are read. */
export function readKindsOf({ pictures }: Pick<ListState, 'pictures'>): readonly ReadKind[] {
  if (pictures === undefined) return TEXT_KINDS;
  return pictures.framesBy === undefined ? WITHOUT_FRAMES : READ_KINDS;
}

/** Returns the kind of resource in definitions whose files are read as this kind. */
function resourceKindOf(kind: ReadKind) {
  return kind === 'frames' ? 'video' : kind;
}

type Resources = Pick<FieldDefinition, 'resources'>;

export function hasFiles({ resources }: Resources, kinds: readonly ReadKind[]): boolean {
  return resources.some(({ kind }) => kinds.some((each) => resourceKindOf(each) === kind));
}

/**
 * True if the records may link to texts: documents and recordings are searched by words, independent of other settings.
 */
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
    // A version may contain values that do not fit its definition.
    if (typeof url !== 'string' || url === '') continue;
    for (const kind of kinds) if (resourceKindOf(kind) === of) linked.push({ field: name, kind, url });
  }
  return linked;
}

/** Linked files that are searched by words. */
export function linkedTexts(definition: Resources, fields: Readonly<Record<string, unknown>>): LinkedFile<TextKind>[] {
  return linkedFiles(definition, fields, TEXT_KINDS);
}

/** Returns the kind as which the files of a resource field are read; undefined if they are not searched by words. */
export function textKindOf({ resources }: Resources, field: string): TextKind | undefined {
  const kind = resources.find(({ name }) => name === field)?.kind;
  return TEXT_KINDS.find((each) => each === kind);
}
