/**
 * A message as its parts, with those of the messages in it. The library reads a message in one piece, line by line, and one that is within another within
 * the other's call, as long as its sender likes to make it: here the lines are read in slices, and messages within messages one after the other, each as far
 * as the bounds of all together go.
 */
import PostalMime, { type Attachment, type Email } from 'postal-mime';
import type { Slices } from '../text/slices.js';

/** A line takes a microsecond or, in quoted-printable, some, and a part 50, however few bytes they have. */
interface LineBounds {
  lines: number;
  short: number;
  /** Lines that may begin one. */
  parts: number;
}

/** Ten megabytes of a file in base64 are 140,000 lines, of which none is short. */
const BOUNDS: LineBounds = { lines: 150_000, short: 30_000, parts: 2000 };
/** Of all messages within a message: each is counted again with the lines of those within it. */
const NESTED_BOUNDS: LineBounds = { lines: 300_000, short: 60_000, parts: 2000 };
const SHORT_LINE_BYTES = 60;
const NESTED_DEPTH_MAX = 10;
const NESTED_MESSAGES_MAX = 100;
/** Of all parts. The library takes a fifth of a second for 128 KiB of colons where addresses are, and four times as long for twice as much. */
const HEADER_BYTES_MAX = 262_144;
const NEW_LINE = 0x0a;
const HYPHEN = 0x2d;
const NESTED_TYPE = 'message/rfc822';

export interface ParsedMessage {
  /** Undefined where it is beyond what the library reads. */
  readonly email: Email | undefined;
  /** What was read of it. */
  readonly source: Uint8Array;
  /** Those within the message, in their order and at whatever depth. */
  readonly nested: readonly Email[];
  /** Of all of them, without messages that were read. */
  readonly attachments: readonly Attachment[];
  /** It has more lines, or parts, than are read: what stands behind them is missing. */
  readonly isLeftOff: boolean;
}

export interface ParsingOptions {
  readonly slices: Slices;
  /** The end of the message is missing: its last part is not whole. */
  readonly isCut: boolean;
}

export async function parseMessage(whole: Uint8Array, options: ParsingOptions): Promise<ParsedMessage> {
  const source = whole.subarray(0, endOfReading(whole, { ...BOUNDS }));
  const email = await parsed(source, options.slices);
  const reading = new NestedReading(options);
  const isShortened = source.length < whole.length;
  const attachments = email === undefined ? [] : await reading.attachmentsOf(email, options.isCut || isShortened, 1);
  return { email, source, nested: reading.messages, attachments, isLeftOff: isShortened || reading.isLeftOff };
}

class NestedReading {
  readonly messages: Email[] = [];
  isLeftOff = false;
  private readonly bounds = { ...NESTED_BOUNDS };

  constructor(private readonly options: ParsingOptions) {}

  /** Those of messages within it included. `isCut`: without the last file, which is not whole. */
  async attachmentsOf({ attachments }: Email, isCut: boolean, depth: number): Promise<Attachment[]> {
    const found: Attachment[] = [];
    for (const [at, attachment] of attachments.entries()) {
      const isLast = isCut && at === attachments.length - 1;
      const inner = await this.innerOf(attachment, isLast, depth);
      if (inner !== undefined) found.push(...inner);
      else found.push(isLast ? { ...attachment, content: new ArrayBuffer(0) } : attachment);
    }
    return found;
  }

  /** What a message within the message has; undefined for any other part, and for one that is too deep, or one too many. */
  private async innerOf(attachment: Attachment, isCut: boolean, depth: number): Promise<Attachment[] | undefined> {
    if (attachment.mimeType !== NESTED_TYPE || attachment.rfc822DepthExceeded !== true) return undefined;
    if (depth > NESTED_DEPTH_MAX || this.messages.length >= NESTED_MESSAGES_MAX) return undefined;
    const whole = bytesOf(attachment);
    const source = whole.subarray(0, endOfReading(whole, this.bounds));
    const isShortened = source.length < whole.length;
    this.isLeftOff ||= isShortened;
    const email = await parsed(source, this.options.slices);
    if (email === undefined) return undefined;
    this.messages.push(email);
    return this.attachmentsOf(email, isCut || isShortened, depth + 1);
  }
}

export function bytesOf({ content }: Attachment): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content as ArrayBuffer);
}

/** Behind the last line that is read; what it has is taken off the bounds. */
function endOfReading(source: Uint8Array, left: LineBounds): number {
  for (let start = 0, end = 0; start < source.length; start = end + 1) {
    end = source.indexOf(NEW_LINE, start);
    if (end === -1) break;
    left.lines -= 1;
    if (end - start < SHORT_LINE_BYTES) left.short -= 1;
    if (source[start] === HYPHEN && source[start + 1] === HYPHEN) left.parts -= 1;
    if (left.lines < 0 || left.short < 0 || left.parts < 0) return start;
  }
  return source.length;
}

/** Undefined for what is beyond the bounds of the parser. Rejects with the reason of the slices, where they have been ended. */
async function parsed(source: Uint8Array, slices: Slices): Promise<Email | undefined> {
  await slices.pause();
  try {
    // Messages within it are given as they came: whoever reads them here knows how much there is of all.
    const parser = new SlicedParser({ maxHeadersSize: HEADER_BYTES_MAX, maxRfc822NestingDepth: 0 });
    parser.slices = slices;
    return await parser.parse(source);
  } catch {
    await slices.pause();
    return undefined;
  }
}

/** What of the library reads lines, which it tells nobody of. */
interface LineReader {
  readonly currentNode: {
    readonly state: 'header' | 'body' | 'finished';
    readonly contentTransferEncoding: { readonly encoding: string };
  };
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>;
}

const QUOTED_PRINTABLE = /quoted-printable/i;
const LINE_END = Buffer.from('\n');
/** Of lines that go to the library as one. */
const JOINED_BYTES_MAX = 65_536;

/**
 * Lines of a body go to the library many at a time, as one that has line ends within: it keeps them one by one, and takes ten times as long to put them
 * together. Not those of quoted-printable, each of which may say that the next one belongs to it, nor those that may begin a part.
 */
class SlicedParser extends PostalMime {
  slices: Slices | undefined;
  private joined: Uint8Array[] = [];
  private joinedBytes = 0;

  async processLine(line: Uint8Array, isFinal: boolean): Promise<void> {
    if (this.slices?.areOver === true) await this.slices.next();
    const { state, contentTransferEncoding } = (this as unknown as LineReader).currentNode;
    const mayBegin = line[0] === HYPHEN && line[1] === HYPHEN;
    const isJoined =
      state === 'body' && !mayBegin && !isFinal && !QUOTED_PRINTABLE.test(contentTransferEncoding.encoding);
    if (isJoined) {
      if (this.joined.length > 0) this.joined.push(LINE_END);
      this.joined.push(line);
      this.joinedBytes += line.length + LINE_END.length;
      if (this.joinedBytes >= JOINED_BYTES_MAX) await this.passJoined();
      return;
    }
    await this.passJoined();
    await this.pass(line, isFinal);
  }

  private async passJoined(): Promise<void> {
    if (this.joined.length === 0) return;
    const lines = Buffer.concat(this.joined);
    this.joined = [];
    this.joinedBytes = 0;
    await this.pass(lines, false);
  }

  private pass(line: Uint8Array, isFinal: boolean): Promise<void> {
    return (PostalMime.prototype as unknown as LineReader).processLine.call(this, line, isFinal);
  }
}
