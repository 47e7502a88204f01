/**
 * A mailbox as a source: the messages of its folders, read over IMAP. A message never changes, so one that is known by
 * its folder's UIDVALIDITY and its UID is not fetched again. The name of its record is its Message-ID, which stays the
 * same when UIDVALIDITY changes or the message is moved to another folder. A message without one is named by a hash of
 * it.
 */
import { createHash } from 'node:crypto';
import { ImapFlow, type MailboxObject } from 'imapflow';
import {
  faultSentence,
  isOutOfSpace,
  OutboundRefusedError,
  type OutboundRules,
  type Secret,
} from '../../platform/index.js';
import { guardedAddress, type AddressLookup } from '../../platform/outbound/guarded-agent.js';
import { readMessage, type AttachedFile } from '../email/message-reader.js';
import type { FieldDescriptions } from '../file/sync-file.js';
import type { FeedSource } from '../file/sync-run.js';
import { Slices } from '../text/slices.js';
import { RunTimeOverError, SourceFailedError, type SourceListener, type SourceOutcome } from '../source/source-run.js';

export interface EmailSettings {
  readonly host: string;
  readonly port: number;
  /** With `starttls`, the sign-in is never sent before the connection is encrypted. */
  readonly security: 'tls' | 'starttls';
  readonly user: string;
  /** What kind of secret the feed has. */
  readonly auth: 'password' | 'xoauth2';
  readonly folders: readonly string[];
  /** How old messages may be. 0: any age. A message that becomes older leaves the feed. */
  readonly since_days: number;
}

interface FolderMemory {
  readonly uidValidity: string;
  readonly names: Readonly<Record<string, string>>;
  /**
   * What tells whether anything has changed in the folder since. Undefined if the server does not support this
   * (CONDSTORE), or if not everything was read.
   */
  readonly state?: string;
}

/** What is kept between two runs: for each folder, the names of its messages by UID. */
export interface EmailMemory {
  readonly folders: Readonly<Record<string, FolderMemory>>;
}

export interface EmailMemoryStore {
  read(): EmailMemory | undefined;
  write(memory: EmailMemory): Promise<void>;
}

export interface EmailSourceOptions {
  readonly settings: EmailSettings;
  readonly secret: Secret;
  readonly rules: OutboundRules;
  readonly memory: EmailMemoryStore;
  readonly nowMs: () => number;
  /** Maximum size of a message. Only this much of a longer one is read. */
  readonly messageBytesMax: number;
  readonly recordsMax: number;
  /** Keeps a file attached to a message. Returns the address under which the record refers to it. */
  readonly keepFile?: (file: AttachedFile) => string;
  readonly onProgress?: (progress: { readonly done: number; readonly queued: number }) => void;
  /** Certificates that are trusted in addition to those of the system, as PEM. For tests. */
  readonly trusted?: string;
  readonly lookup?: AddressLookup;
}

const CONNECT_MS = 15_000;
const IDLE_MS = 120_000;
/**
 * Enough for the numbers of three million messages. Nothing else that a server sends in one line is nearly as long. The
 * library itself accepts a gigabyte.
 */
const LINE_BYTES_MAX = 32 * 2 ** 20;
/** Maximum size of what surrounds a message in the answer that contains it. */
const AROUND_MESSAGE_BYTES_MAX = 65_536;
/**
 * Maximum number of tokens in an answer. Usually there are some dozens; each takes a hundred bytes of memory, however
 * short it is.
 */
const ANSWER_TOKENS_MAX = 100_000;
const DAY_MS = 86_400_000;
const FETCHED_TOGETHER = 50;
const HASH_CHARACTERS = 22;
const GOODBYE_CHARACTERS_MAX = 200;

const FIELDS: FieldDescriptions = {
  searchable_fields: [
    { name: 'subject', weight: 4 },
    { name: 'text', weight: 1 },
    { name: 'from', weight: 1 },
    { name: 'attachments', weight: 1 },
  ],
  facets: [
    { name: 'from', type: 'string', cardinality: 'Many' },
    { name: 'to', type: 'string', cardinality: 'Many' },
    { name: 'cc', type: 'string', cardinality: 'Many' },
    { name: 'date', type: 'date', cardinality: 'Single' },
    { name: 'thread', type: 'string', cardinality: 'Single' },
    { name: 'folder', type: 'string', cardinality: 'Single' },
    { name: 'attachments', type: 'string', cardinality: 'Many' },
  ],
  resources: (['document', 'image', 'video', 'audio'] as const).map((kind) => ({ name: kind, kind })),
};

interface Reading {
  readonly listener: SourceListener;
  readonly known: EmailMemory | undefined;
  readonly signal: AbortSignal;
  readonly names: Set<string>;
  /**
   * What is known of the folders now, including the one being read. For folders that have not been read yet, it is what
   * was known before.
   */
  readonly folders: Record<string, FolderMemory>;
  readonly counts: { requests: number; bytes: number; left: number };
  /** Names of messages that were deleted in their folders. */
  readonly deleted: string[];
  /** Number of messages that are in the folder but were not sent by the server. */
  missed: number;
  /** True if there are more messages than a feed may have. */
  isFull: boolean;
}

export class EmailSource implements FeedSource {
  readonly provider = 'email';
  readonly asksForEach = false;
  private next: EmailMemory | undefined;

  constructor(private readonly options: EmailSourceOptions) {}

  async read(
    listener: SourceListener,
    { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ): Promise<SourceOutcome> {
    const { settings, memory, recordsMax } = this.options;
    const counts = { requests: 0, bytes: 0, left: recordsMax };
    const known = isFresh ? undefined : memory.read();
    const reading: Reading = {
      listener,
      known,
      signal,
      names: new Set(),
      folders: { ...known?.folders },
      counts,
      deleted: [],
      missed: 0,
      isFull: false,
    };
    const client = await this.client();
    signal.throwIfAborted();
    // Commands that are waiting fail only with the fact that the connection is gone. This keeps its cause.
    let broken: unknown;
    client.on('error', (error: unknown) => (broken ??= error));
    const end = () => client.close();
    signal.addEventListener('abort', end, { once: true });
    try {
      await client.connect();
      for (const path of settings.folders) reading.folders[path] = await this.folder(client, path, reading);
      this.next = { folders: onlyOf(reading.folders, settings.folders) };
      const { isFull, missed, deleted } = reading;
      if (isFull) listener.skipped('the rest', `A feed has at most ${recordsMax} records.`);
      // A deleted message may have been moved to another folder and be among those that were not read.
      else for (const name of deleted) listener.gone(name);
      if (missed > 0) listener.skipped(`${missed} messages`, 'The server lists them, and did not give them.');
      return { isComplete: !isFull && missed === 0, requests: counts.requests, bytes: counts.bytes };
    } catch (error) {
      const isLate = signal.reason instanceof RunTimeOverError && reading.names.size > 0;
      if (isLate && !isOutOfSpace(error)) return this.goneOnLater(reading, signal.reason);
      signal.throwIfAborted();
      throw failure(isDisconnected(error) ? (broken ?? error) : error);
    } finally {
      signal.removeEventListener('abort', end);
      client.close();
    }
  }

  /**
   * Ends a run whose time is over. Messages never change, so those that were read are known to the next run, which
   * fetches only the others.
   */
  private goneOnLater({ listener, folders, counts }: Reading, { message }: RunTimeOverError): SourceOutcome {
    this.next = { folders: onlyOf(folders, this.options.settings.folders) };
    listener.skipped('the rest', message);
    return { isComplete: false, requests: counts.requests, bytes: counts.bytes };
  }

  /** A message that no folder lists is gone. */
  confirmGone(names: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(names));
  }

  fields(): FieldDescriptions {
    return FIELDS;
  }

  async keep(): Promise<void> {
    if (this.next !== undefined) await this.options.memory.write(this.next);
  }

  /** Creates a client that is not connected yet. */
  private async client(): Promise<ImapFlow> {
    const { settings, secret, rules, trusted, lookup } = this.options;
    const { host, port, security, user, auth } = settings;
    const address = await guardedAddress(host, rules, lookup).catch((error: unknown) => {
      throw failure(error);
    });
    const client = new ImapFlow({
      host: address,
      servername: host,
      port,
      secure: security === 'tls',
      doSTARTTLS: security === 'starttls',
      auth: { user, ...(auth === 'password' ? { pass: secret.reveal() } : { accessToken: secret.reveal() }) },
      // The connection goes to an address that was checked. The certificate has to be for the host name.
      tls: { servername: host, ...(trusted === undefined ? {} : { ca: trusted }) },
      logger: false,
      disableAutoIdle: true,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: IDLE_MS,
      ...this.limits(),
    });
    return client;
  }

  /** Limits for what the server sends, which is held in memory until it is complete. */
  private limits() {
    const maxLiteralSize = this.options.messageBytesMax + AROUND_MESSAGE_BYTES_MAX;
    return {
      maxLiteralSize,
      maxLineLength: LINE_BYTES_MAX,
      maxResponseSize: Math.max(LINE_BYTES_MAX, maxLiteralSize + AROUND_MESSAGE_BYTES_MAX),
      maxResponseTokens: ANSWER_TOKENS_MAX,
    };
  }

  private async folder(client: ImapFlow, path: string, reading: Reading): Promise<FolderMemory> {
    const mailbox = await opened(client, path);
    reading.counts.requests += 1;
    const uidValidity = String(mailbox.uidValidity);
    const known = reading.known?.folders[path];
    const knownNames = known?.uidValidity === uidValidity ? known.names : {};
    const state = this.stateOf(mailbox);
    const isSame = state !== undefined && known?.uidValidity === uidValidity && known.state === state;
    const { uids, isAll } = isSame
      ? { uids: Object.keys(known.names).map(Number), isAll: true }
      : await this.uidsOf(client, mailbox);
    // The newest come first, so that a limit leaves out the oldest.
    const taken = uids.sort((a, b) => b - a).slice(0, reading.counts.left);
    reading.counts.left -= taken.length;
    if (taken.length < uids.length) reading.isFull = true;
    const names: Record<string, string> = {};
    reading.folders[path] = { uidValidity, names };
    const wanted: number[] = [];
    for (const uid of taken) {
      const name = knownNames[uid];
      if (name === undefined) wanted.push(uid);
      else {
        names[uid] = name;
        if (!reading.names.has(name)) reading.listener.unchanged(name);
        reading.names.add(name);
      }
    }
    for (let begin = 0; begin < wanted.length; begin += FETCHED_TOGETHER) {
      const uidsNow = wanted.slice(begin, begin + FETCHED_TOGETHER);
      await this.fetch(client, { path, uids: uidsNow, names }, reading);
      this.options.onProgress?.({ done: reading.names.size, queued: wanted.length - begin - uidsNow.length });
    }
    reading.missed += wanted.filter((uid) => names[uid] === undefined).length;
    const listed = new Set(uids.map(String));
    if (isAll) for (const [uid, name] of Object.entries(knownNames)) if (!listed.has(uid)) reading.deleted.push(name);
    // Whatever changes while the folder is read is noticed next time, because the state is the one from before.
    const isWhole = taken.length === uids.length && Object.keys(names).length === mailbox.exists;
    return { uidValidity, names, ...(isWhole && state !== undefined ? { state } : {}) };
  }

  /**
   * Returns the state of a folder. If it is the same as before, the folder contains the same messages (RFC 9051,
   * 2.3.1.1: a new message changes UIDNEXT, and if messages are only removed, their number changes). These two would
   * suffice. The highest mod-sequence (RFC 7162), which changes of flags alter too, is required as a second witness;
   * servers without it are always asked for their messages. If messages are limited by age, a folder changes without
   * any of these, so there is no state.
   */
  private stateOf({ exists, uidNext, highestModseq, noModseq }: MailboxObject): string | undefined {
    if (this.options.settings.since_days !== 0 || noModseq === true || highestModseq === undefined) return undefined;
    // A server that does not keep these numbers says 0 or nothing.
    return highestModseq > 0 && uidNext > 0 ? `${exists} ${uidNext} ${highestModseq}` : undefined;
  }

  /**
   * Returns the UIDs of the messages to be read. `isAll`: true if they are all messages of the folder; the server then
   * also tells their number, which is compared.
   */
  private async uidsOf(client: ImapFlow, mailbox: MailboxObject): Promise<{ uids: number[]; isAll: boolean }> {
    const { settings, nowMs } = this.options;
    const isAll = settings.since_days === 0;
    const { exists } = mailbox;
    if (exists === 0) return { uids: [], isAll };
    const query = isAll ? { all: true } : { since: new Date(nowMs() - settings.since_days * DAY_MS) };
    const found = await client.search(query, { uid: true });
    if (!Array.isArray(found)) throw new SourceFailedError('The server could not say which messages it has.');
    // The library updates this number as messages come and go.
    const least = Math.min(exists, mailbox.exists);
    if (isAll && found.length < least)
      throw new SourceFailedError(`The server names ${found.length} of ${least} messages that it has.`);
    return { uids: found, isAll };
  }

  /** Fetches messages. The name of each one that is passed on is put into `wanted.names` at once. */
  private async fetch(
    client: ImapFlow,
    wanted: { readonly path: string; readonly uids: readonly number[]; readonly names: Record<string, string> },
    { listener, names, signal, counts }: Reading,
  ): Promise<void> {
    const { messageBytesMax, nowMs } = this.options;
    const slices = new Slices(signal);
    counts.requests += 1;
    const query = { uid: true, size: true, internalDate: true, source: { maxLength: messageBytesMax } };
    for await (const message of client.fetch(wanted.uids.join(','), query, { uid: true })) {
      signal.throwIfAborted();
      const { uid, source, size, internalDate } = message;
      if (source === undefined) continue;
      counts.bytes += source.length;
      const context = {
        folder: wanted.path,
        receivedAt: internalDate,
        nowMs: nowMs(),
        // This is decided by the bytes received, because some servers only estimate sizes.
        isCut: source.length >= messageBytesMax,
      };
      const { messageId, fields, files, isLeftOff } = await readMessage(source, context, slices);
      const name = messageId ?? createHash('sha256').update(source).digest('base64url').slice(0, HASH_CHARACTERS);
      // This is the same message in a second folder, or a second copy of it.
      if (names.has(name)) {
        wanted.names[uid] = name;
        continue;
      }
      names.add(name);
      if (size !== undefined && size > messageBytesMax)
        listener.skipped(name, `The message has ${size} bytes; it is read to ${messageBytesMax}.`);
      else if (isLeftOff) listener.skipped(name, 'The message has more lines, or parts, than are read of one.');
      const { keepFile } = this.options;
      const kept = keepFile === undefined ? [] : files.map((file) => [file.kind, keepFile(file)] as const);
      listener.record({ name, fields: { ...fields, ...Object.fromEntries(kept) } });
      wanted.names[uid] = name;
    }
  }
}

function onlyOf(
  folders: Readonly<Record<string, FolderMemory>>,
  paths: readonly string[],
): Record<string, FolderMemory> {
  return Object.fromEntries(Object.entries(folders).filter(([path]) => paths.includes(path)));
}

async function opened(client: ImapFlow, path: string): Promise<MailboxObject> {
  try {
    return await client.mailboxOpen(path, { readOnly: true });
  } catch (error) {
    if (isRefusal(error)) throw new SourceFailedError(`There is no folder '${path}'.`, undefined, { cause: error });
    throw error;
  }
}

/** Returns true if the server understood the command and refused it. */
function isRefusal(error: unknown): boolean {
  return (error as { readonly responseStatus?: unknown }).responseStatus === 'NO';
}

function isDisconnected(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'NoConnection';
}

/** Turns an error into one whose message is a sentence without secrets. */
function failure(error: unknown): unknown {
  if (error instanceof SourceFailedError || isOutOfSpace(error)) return error;
  if (error instanceof OutboundRefusedError)
    return new SourceFailedError(`The mailbox cannot be read: ${error.message}`, undefined, { cause: error });
  if ((error as { readonly authenticationFailed?: boolean }).authenticationFailed === true)
    return new SourceFailedError('The server refused the sign-in: give another password or token.', undefined, {
      cause: error,
    });
  const told = `The mailbox cannot be read: ${faultSentence(error)}${goodbyeOf(error)}`;
  return new SourceFailedError(told, undefined, { cause: error });
}

/** Returns the reason that the server gave for ending the connection, such as that there are too many. */
function goodbyeOf(error: unknown): string {
  const { code, reason } = error as { readonly code?: unknown; readonly reason?: unknown };
  // OpenSSL's errors have a `reason`, too.
  const isGoodbye = typeof code === 'string' && code.startsWith('ClosedAfterConnect');
  if (!isGoodbye || typeof reason !== 'string' || reason === '') return '';
  return ` It said: ${reason.slice(0, GOODBYE_CHARACTERS_MAX).replace(/[\p{Cc}\s]+/gu, ' ')}`;
}
