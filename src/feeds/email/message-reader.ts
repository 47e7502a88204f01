/** A message as it came, as the fields of a record: whatever its charsets, encodings and parts are. Never fails for what it reads. */
import PostalMime, { type Address, type Email } from 'postal-mime';
import { givenFields, type FieldValue } from '../source/source-run.js';
import { cutText, wellFormed } from '../text/cut-text.js';
import { htmlToTextInSlices } from '../text/html-text.js';
import { Slices } from '../text/slices.js';

const TEXT_CHARACTERS_MAX = 1_000_000;
const LINE_CHARACTERS_MAX = 1000;
const ADDRESSES_MAX = 200;
const ATTACHMENTS_MAX = 100;
const MESSAGE_ID_CHARACTERS_MAX = 512;
const DAY_MS = 86_400_000;
/**
 * A line takes the parser up to 15 microseconds and a part 50, however few bytes they have. Ten megabytes of a file in base64 are 140,000 lines, of which
 * none is short.
 */
const LINES_MAX = 150_000;
const SHORT_LINES_MAX = 30_000;
const SHORT_LINE_BYTES = 60;
/** Lines that may begin one. */
const PARTS_MAX = 2000;
const NEW_LINE = 0x0a;
const HYPHEN = 0x2d;

/** A part of a message that a list can search as a file. */
export interface AttachedFile {
  readonly kind: 'document' | 'image' | 'video' | 'audio';
  /** Without the dot. */
  readonly ending: string;
  readonly content: Uint8Array;
}

export interface MessageReading {
  /** Undefined where the message has none that could be a name. */
  readonly messageId: string | undefined;
  /** The first of each kind. */
  readonly files: readonly AttachedFile[];
  /** It has more lines, or parts, than are read: what stands behind them is missing. */
  readonly isLeftOff: boolean;
  readonly fields: Readonly<Record<string, FieldValue>>;
}

export interface MessageContext {
  readonly folder: string;
  /** When the server got it: of a message without a date of its own. */
  readonly receivedAt: Date | string | undefined;
  readonly nowMs: number;
  /** Default false. Its end is missing: the last file is not whole, and is named without being kept. */
  readonly isCut?: boolean;
}

export async function readMessage(
  whole: Uint8Array,
  context: MessageContext,
  slices = new Slices(),
): Promise<MessageReading> {
  const source = whole.subarray(0, endOfReading(whole));
  const isLeftOff = source.length < whole.length;
  const email = await parsed(source);
  await slices.pause();
  if (email === undefined) return { messageId: undefined, files: [], isLeftOff, fields: unreadable(source, context) };
  const messageId = idOf(email.messageId);
  const fields = givenFields({
    subject: line(email.subject),
    from: addresses(email.from === undefined ? [] : [email.from]),
    to: addresses(email.to ?? []),
    cc: addresses(email.cc ?? []),
    date: dateOf(email.date, context),
    text: await textOf(email, slices),
    thread: idOf(email.references?.trim().split(/\s+/, 1)[0]) ?? idOf(email.inReplyTo) ?? messageId,
    folder: context.folder,
    attachments: email.attachments
      .flatMap(({ filename }) => (filename === null ? [] : [line(filename) ?? '']))
      .filter((name) => name !== '')
      .slice(0, ATTACHMENTS_MAX),
  });
  return { messageId, files: filesOf(email, context.isCut === true || isLeftOff), isLeftOff, fields };
}

/** Inline pictures, those of signatures mostly, are none. */
function filesOf({ attachments }: Email, isCut: boolean): AttachedFile[] {
  const files = new Map<AttachedFile['kind'], AttachedFile>();
  for (const { mimeType, related, content } of isCut ? attachments.slice(0, -1) : attachments) {
    const kind = kindOf(mimeType);
    if (kind === undefined || related === true || files.has(kind)) continue;
    const ending = (mimeType.split('/')[1] ?? '').replaceAll(/[^a-z0-9]/g, '').slice(0, 8);
    const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content as ArrayBuffer);
    if (bytes.length > 0) files.set(kind, { kind, ending, content: bytes });
  }
  return [...files.values()];
}

function kindOf(mimeType: string): AttachedFile['kind'] | undefined {
  if (mimeType === 'application/pdf') return 'document';
  const [kind] = mimeType.split('/', 1);
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : undefined;
}

/** Behind the last line that is read. */
function endOfReading(source: Uint8Array): number {
  let lines = 0;
  let short = 0;
  let parts = 0;
  for (let start = 0, end = 0; start < source.length; start = end + 1) {
    end = source.indexOf(NEW_LINE, start);
    if (end === -1) break;
    lines += 1;
    if (end - start < SHORT_LINE_BYTES) short += 1;
    if (source[start] === HYPHEN && source[start + 1] === HYPHEN) parts += 1;
    if (lines > LINES_MAX || short > SHORT_LINES_MAX || parts > PARTS_MAX) return start;
  }
  return source.length;
}

/** Undefined for what is beyond the bounds of the parser. */
async function parsed(source: Uint8Array): Promise<Email | undefined> {
  try {
    return await PostalMime.parse(source);
  } catch {
    return undefined;
  }
}

/** Of a message whose structure cannot be read: what it says as it stands. */
function unreadable(source: Uint8Array, context: MessageContext): Readonly<Record<string, FieldValue>> {
  const text = cutText(Buffer.from(source).toString('latin1'), TEXT_CHARACTERS_MAX);
  return givenFields({ text, folder: context.folder, date: dateOf(undefined, context) });
}

async function textOf({ text, html }: Email, slices: Slices): Promise<string> {
  const given = text?.trim() ?? '';
  return given === ''
    ? htmlToTextInSlices(html ?? '', TEXT_CHARACTERS_MAX, slices)
    : cutText(wellFormed(given), TEXT_CHARACTERS_MAX);
}

function line(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cutText(wellFormed(text.replaceAll(/\s+/g, ' ').trim()), LINE_CHARACTERS_MAX);
}

/** `Ada Lovelace <ada@example.com>`, or what there is of it. */
function addresses(given: readonly Address[]): string[] {
  return given
    .flatMap((each) => each.group ?? [each])
    .map(({ name, address = '' }) => line(name === '' || name === address ? address : `${name} <${address}>`) ?? '')
    .filter((text) => text !== '')
    .slice(0, ADDRESSES_MAX);
}

/** Dates of the future would stand first for ever. */
function dateOf(given: string | undefined, { receivedAt, nowMs }: MessageContext): string | undefined {
  for (const date of [given, receivedAt]) {
    const ms = date === undefined ? NaN : new Date(date).getTime();
    if (ms > 0 && ms <= nowMs + DAY_MS) return new Date(ms).toISOString();
  }
  return undefined;
}

function idOf(text: string | undefined): string | undefined {
  const id = wellFormed((text ?? '').replaceAll(/[<>\s]/g, ''));
  return id === '' || id.length > MESSAGE_ID_CHARACTERS_MAX ? undefined : id;
}
