/**
 * Converts a message to the fields of a record, whatever its charsets, encodings and parts. Never fails because of its
 * content.
 */
import type { Address, Attachment, Email } from 'postal-mime';
import { givenFields, type FieldValue } from '../source/source-run.js';
import { cutText, wellFormed } from '../text/cut-text.js';
import { htmlToTextInSlices } from '../text/html-text.js';
import { Slices } from '../text/slices.js';
import { bytesOf, parseMessage } from './message-parser.js';

const TEXT_CHARACTERS_MAX = 1_000_000;
const LINE_CHARACTERS_MAX = 1000;
const ADDRESSES_MAX = 200;
const ATTACHMENTS_MAX = 100;
const MESSAGE_ID_CHARACTERS_MAX = 512;
const DAY_MS = 86_400_000;

/** A part of a message that a list can search as a file. */
export interface AttachedFile {
  readonly kind: 'document' | 'image' | 'video' | 'audio';
  /** File extension, without the dot. */
  readonly ending: string;
  readonly content: Uint8Array;
}

export interface MessageReading {
  /** Undefined if the message has no id that can be a name. */
  readonly messageId: string | undefined;
  /** The first file of each kind. */
  readonly files: readonly AttachedFile[];
  /** True if it has more lines or parts than are read, so that its end is missing. */
  readonly isLeftOff: boolean;
  readonly fields: Readonly<Record<string, FieldValue>>;
}

export interface MessageContext {
  readonly folder: string;
  /** Time at which the server received the message, used if it has no date. */
  readonly receivedAt: Date | string | undefined;
  readonly nowMs: number;
  /**
   * True if the end of the message is missing: the last file is incomplete, and only its name is kept. Default false.
   */
  readonly isCut?: boolean;
}

export async function readMessage(
  whole: Uint8Array,
  context: MessageContext,
  slices = new Slices(),
): Promise<MessageReading> {
  const { email, source, nested, attachments, isLeftOff } = await parseMessage(whole, {
    slices,
    isCut: context.isCut === true,
  });
  if (email === undefined) return { messageId: undefined, files: [], isLeftOff, fields: unreadable(source, context) };
  const messageId = idOf(email.messageId);
  const fields = givenFields({
    subject: line(email.subject),
    from: addresses(email.from === undefined ? [] : [email.from]),
    to: addresses(email.to ?? []),
    cc: addresses(email.cc ?? []),
    date: dateOf(email.date, context),
    text: await textOfAll(email, nested, slices),
    thread: idOf(email.references?.trim().split(/\s+/, 1)[0]) ?? idOf(email.inReplyTo) ?? messageId,
    folder: context.folder,
    attachments: attachments
      .flatMap(({ filename }) => (filename === null ? [] : [line(filename) ?? '']))
      .filter((name) => name !== '')
      .slice(0, ATTACHMENTS_MAX),
  });
  return { messageId, files: filesOf(attachments), isLeftOff, fields };
}

/** Returns the files; inline pictures are omitted, since they mostly belong to signatures. */
function filesOf(attachments: readonly Attachment[]): AttachedFile[] {
  const files = new Map<AttachedFile['kind'], AttachedFile>();
  for (const attachment of attachments) {
    const { mimeType, related } = attachment;
    const kind = kindOf(mimeType);
    if (kind === undefined || related === true || files.has(kind)) continue;
    const ending = (mimeType.split('/')[1] ?? '').replaceAll(/[^a-z0-9]/g, '').slice(0, 8);
    const bytes = bytesOf(attachment);
    if (bytes.length > 0) files.set(kind, { kind, ending, content: bytes });
  }
  return [...files.values()];
}

function kindOf(mimeType: string): AttachedFile['kind'] | undefined {
  if (mimeType === 'application/pdf') return 'document';
  const [kind] = mimeType.split('/', 1);
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : undefined;
}

/** Returns the fields of a message whose structure cannot be read: its raw text. */
function unreadable(source: Uint8Array, context: MessageContext): Readonly<Record<string, FieldValue>> {
  const text = cutText(Buffer.from(source).toString('latin1'), TEXT_CHARACTERS_MAX);
  return givenFields({ text, folder: context.folder, date: dateOf(undefined, context) });
}

/** Returns the text of the message, followed by those of attached messages, each with its subject and author. */
async function textOfAll(email: Email, nested: readonly Email[], slices: Slices): Promise<string> {
  const texts: string[] = [];
  for (const each of [email, ...nested]) {
    const head = each === email ? [] : [line(each.subject), ...addresses(each.from === undefined ? [] : [each.from])];
    const text = await textOf(each, slices);
    texts.push([...head, text].filter((piece) => piece !== undefined && piece !== '').join('\n'));
  }
  return cutText(texts.filter((text) => text !== '').join('\n\n'), TEXT_CHARACTERS_MAX);
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

/** Returns addresses such as `Ada Lovelace <ada@example.com>`, or the part that is given. */
function addresses(given: readonly Address[]): string[] {
  return given
    .flatMap((each) => each.group ?? [each])
    .map(({ name, address = '' }) => line(name === '' || name === address ? address : `${name} <${address}>`) ?? '')
    .filter((text) => text !== '')
    .slice(0, ADDRESSES_MAX);
}

/** Ignores dates in the future, which would sort first for ever. */
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
