/**
 * Streaming reader of XML answers from servers that speak S3. Document types are skipped, so there are only XML's own
 * entities and character references. Answers that are deeper or have more elements than usual are rejected. Pure
 * functions.
 */
import { Parser } from 'htmlparser2';

/** A file of a listing has an owner with a name: three levels within the answer. */
const DEPTH_MAX = 8;
/** Element that may be repeated. */
const REPEATED = 'Contents';
/** Element whose surrounding blanks are significant. */
const VERBATIM = 'Key';

/**
 * Members by name; a string for an element without child elements. Of repeated elements, the last one counts, except
 * `Contents`.
 */
export interface XmlMembers {
  readonly [name: string]: string | XmlMembers | readonly (string | XmlMembers)[] | undefined;
}

/** Thrown for an invalid answer. */
export class S3XmlError extends Error {
  override readonly name = 'S3XmlError';
}

/** Rejects with an S3XmlError for an answer that is truncated, no XML or too large, and with what `pieces` throws. */
export async function readS3Xml(pieces: AsyncIterable<Uint8Array>, elementsMax: number): Promise<XmlMembers> {
  const reader = new MembersReader(elementsMax);
  // Attributes are not needed; without a handler, the parser keeps none.
  const parser = new Parser(reader, { xmlMode: true, decodeEntities: true });
  const decoder = new TextDecoder();
  for await (const piece of pieces) parser.write(decoder.decode(piece, { stream: true }));
  reader.isCut = reader.depth > 0;
  parser.end(decoder.decode());
  return reader.members();
}

interface OpenElement {
  readonly members: Record<string, XmlMembers[string]>;
  readonly texts: string[];
  hasElements: boolean;
}

class MembersReader {
  isCut = false;
  readonly #open: OpenElement[] = [newElement()];
  #elements = 0;

  constructor(private readonly elementsMax: number) {}

  get depth(): number {
    return this.#open.length - 1;
  }

  onopentagname(): void {
    this.#elements += 1;
    if (this.#elements > this.elementsMax || this.depth >= DEPTH_MAX)
      throw new S3XmlError('it answered more elements, or deeper ones, than it was asked for');
    this.#top.hasElements = true;
    this.#open.push(newElement());
  }

  ontext(text: string): void {
    this.#top.texts.push(text);
  }

  onclosetag(name: string): void {
    const { members, texts, hasElements } = this.#top;
    this.#open.pop();
    const text = texts.join('');
    const value = hasElements ? members : name === VERBATIM ? text : text.trim();
    const { members: around } = this.#top;
    if (name === REPEATED) around[name] = addedTo(around[name], value);
    else around[name] = value;
  }

  members(): XmlMembers {
    if (this.isCut || this.#elements === 0) throw new S3XmlError('it answered something that is not whole as XML');
    return this.#top.members;
  }

  get #top(): OpenElement {
    return this.#open.at(-1) as OpenElement;
  }
}

function addedTo(before: XmlMembers[string], value: string | XmlMembers): readonly (string | XmlMembers)[] {
  if (!Array.isArray(before)) return [value];
  (before as (string | XmlMembers)[]).push(value);
  return before as readonly (string | XmlMembers)[];
}

/** Creates an object without prototype: a server may send any name, such as `__proto__`. */
function newElement(): OpenElement {
  return { members: Object.create(null) as Record<string, XmlMembers[string]>, texts: [], hasElements: false };
}
