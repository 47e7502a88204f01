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

const WITHOUT_FRAMES: readonly ReadKind[] = READ_KINDS.filter((kind) => kind !== 'frames');

/** As what the files of a list are read. */
export function readKindsOf({ pictures }: Pick<ListState, 'pictures'>): readonly ReadKind[] {
  if (pictures === undefined) return TEXT_KINDS;
  return pictures.framesBy === undefined ? WITHOUT_FRAMES : READ_KINDS;
}

/** As records' definitions name the files that are read so. */
function resourceKindOf(kind: ReadKind) {
  return kind === 'frames' ? 'video' : kind;
}

type Resources = Pick<FieldDefinition, 'resources'>;

export function hasFiles({ resources }: Resources, kinds: readonly ReadKind[]): boolean {
  return resources.some(({ kind }) => kinds.some((each) => resourceKindOf(each) === kind));
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
    // A lenient version may hold what does not fit its definition.
    if (typeof url !== 'string' || url === '') continue;
    for (const kind of kinds) if (resourceKindOf(kind) === of) linked.push({ field: name, kind, url });
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
