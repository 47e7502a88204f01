/**
 * Parses a message and the messages attached to it. The library reads a message without pausing, line by line, and an
 * attached one within the call of the outer one, however long the sender makes it. Here, lines are read in slices, and
 * attached messages one after the other, within common bounds.
 */
import PostalMime, { type Attachment, type Email } from 'postal-mime';
import type { Slices } from '../text/slices.js';

/**
 * Bounds on parts of a message that take time however few bytes they have: a line takes a microsecond (some for
 * quoted-printable), a part 50.
 */
interface LineBounds {
  lines: number;
  short: number;
  /** Lines that may begin a part. */
  parts: number;
}

/** Ten megabytes of a file in base64 are 140,000 lines, none of them short. */
const BOUNDS: LineBounds = { lines: 150_000, short: 30_000, parts: 2000 };
/** For all attached messages together: lines of one are counted again as lines of those that contain it. */
const NESTED_BOUNDS: LineBounds = { lines: 300_000, short: 60_000, parts: 2000 };
const SHORT_LINE_BYTES = 60;
const NESTED_DEPTH_MAX = 10;
const NESTED_MESSAGES_MAX = 100;
/**
 * Limit over all parts. The library takes a fifth of a second for 128 KiB of colons in an address header, and four
 * times as long for twice as much.
 */
const HEADER_BYTES_MAX = 262_144;
const NEW_LINE = 0x0a;
const HYPHEN = 0x2d;
const NESTED_TYPE = 'message/rfc822';

export interface ParsedMessage {
  /** Undefined if the message is beyond what the library can read. */
  readonly email: Email | undefined;
  /** The part of the message that was read. */
  readonly source: Uint8Array;
  /** The attached messages, in order and at any depth. */
  readonly nested: readonly Email[];
  /** Attachments of all messages, except the attached messages that were read. */
  readonly attachments: readonly Attachment[];
  /** True if it has more lines or parts than are read, so that its end is missing. */
  readonly isLeftOff: boolean;
}

export interface ParsingOptions {
  readonly slices: Slices;
  /** True if the end of the message is missing, so its last part is incomplete. */
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

  /**
   * Returns the attachments, including those of attached messages. `isCut`: the last file is incomplete, and loses its
   * content.
   */
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

  /**
   * Returns the attachments of an attached message; undefined for any other part, and for a message beyond the limits
   * of depth or number.
   */
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

/** Returns the end of the last line that is read, and subtracts what was read from the bounds. */
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

/**
 * Returns undefined if the message is beyond the limits of the parser. Rejects with the reason of the slices, if they
 * were ended.
 */
async function parsed(source: Uint8Array, slices: Slices): Promise<Email | undefined> {
  await slices.pause();
  try {
    // Attached messages are returned unparsed, as the caller reads them within common bounds.
    const parser = new SlicedParser({ maxHeadersSize: HEADER_BYTES_MAX, maxRfc822NestingDepth: 0 });
    parser.slices = slices;
    return await parser.parse(source);
  } catch {
    await slices.pause();
    return undefined;
  }
}

/** The parts of the library that read lines, which are not in its declarations. */
interface LineReader {
  readonly currentNode: {
    readonly state: 'header' | 'body' | 'finished';
    readonly contentTransferEncoding: { readonly encoding: string };
  };
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>;
}

const QUOTED_PRINTABLE = /quoted-printable/i;
const LINE_END = Buffer.from('\n');
/** Bytes of lines that are passed to the library as one. */
const JOINED_BYTES_MAX = 65_536;

/**
 * Passes lines of a body to the library in groups, as one line with line ends in it: the library stores lines one by
 * one, and takes ten times as long to join them. Except lines of quoted-printable, which may continue the previous one,
 * and lines that may begin a part.
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
