/**
 * A mailbox as a source: the messages of folders, read over IMAP. A message never changes, so one that is known by its folder's UIDVALIDITY
 * and its UID is not fetched again. Its name is its Message-ID, which outlives a change of UIDVALIDITY and a move to another folder; without
 * one, a hash of the message.
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
  /** `starttls` never sends anything before the connection is encrypted. */
  readonly security: 'tls' | 'starttls';
  readonly user: string;
  /** What the secret is. */
  readonly auth: 'password' | 'xoauth2';
  readonly folders: readonly string[];
  /** 0: all. A message that becomes older leaves the feed. */
  readonly since_days: number;
}

interface FolderMemory {
  readonly uidValidity: string;
  readonly names: Readonly<Record<string, string>>;
  /** By what the server tells whether anything has happened since, where it does (CONDSTORE), and where all was read. */
  readonly state?: string;
}

/** What is kept between two runs: by folder, the names of its messages by UID. */
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
  /** Of a message; a longer one is read to there. */
  readonly messageBytesMax: number;
  readonly recordsMax: number;
  /** Keeps a file of a message; returns where a record finds it. */
  readonly keepFile?: (file: AttachedFile) => string;
  readonly onProgress?: (progress: { readonly done: number; readonly queued: number }) => void;
  /** Of certificates that are trusted beside the system's, as PEM. For tests. */
  readonly trusted?: string;
  readonly lookup?: AddressLookup;
}

const CONNECT_MS = 15_000;
const IDLE_MS = 120_000;
/** Numbers of three million messages; nothing else that a server says in one line is nearly as long. The library takes a gigabyte. */
const LINE_BYTES_MAX = 32 * 2 ** 20;
/** What stands around a message in the answer that has it. */
const AROUND_MESSAGE_BYTES_MAX = 65_536;
/** An answer has some dozens; each takes a hundred bytes of memory, however short it is. */
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
  /** What is known of folders now, the one that is being read included; of those that are not read yet, what was known before. */
  readonly folders: Record<string, FolderMemory>;
  readonly counts: { requests: number; bytes: number; left: number };
  /** Names of messages that were deleted in their folders. */
  readonly deleted: string[];
  /** Messages that are there and were not given. */
  missed: number;
  /** There are more messages than a feed may have. */
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
    // Commands that wait are told no more than that the connection is gone.
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
      // One that was moved to another folder may be among the rest.
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

  /** Messages never change: those that were read are known to the next run, which asks for the others. */
  private goneOnLater({ listener, folders, counts }: Reading, { message }: RunTimeOverError): SourceOutcome {
    this.next = { folders: onlyOf(folders, this.options.settings.folders) };
    listener.skipped('the rest', message);
    return { isComplete: false, requests: counts.requests, bytes: counts.bytes };
  }

  /** What a mailbox does not list is not there. */
  confirmGone(names: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(names));
  }

  fields(): FieldDescriptions {
    return FIELDS;
  }

  async keep(): Promise<void> {
    if (this.next !== undefined) await this.options.memory.write(this.next);
  }

  /** One that is still to connect. */
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
      // The connection goes to an address that was checked; its certificate is that of the name.
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

  /** Of what the server says, which is in memory until it is whole. */
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
    // The newest first: a limit leaves out the oldest.
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
    // What came or went while it was read is seen next time: the state is that of before.
    const isWhole = taken.length === uids.length && Object.keys(names).length === mailbox.exists;
    return { uidValidity, names, ...(isWhole && state !== undefined ? { state } : {}) };
  }

  /**
   * Where this is as it was, the folder has the messages that it had (RFC 9051, 2.3.1.1: what comes changes UIDNEXT, and what goes alone
   * changes their number). That alone would do; the highest mod-sequence (RFC 7162), which flags change, too, is asked of servers as the
   * second witness, and those without it are asked for their messages. By age a folder changes without any of it.
   */
  private stateOf({ exists, uidNext, highestModseq, noModseq }: MailboxObject): string | undefined {
    if (this.options.settings.since_days !== 0 || noModseq === true || highestModseq === undefined) return undefined;
    // A server that does not count says 0 or nothing.
    return highestModseq > 0 && uidNext > 0 ? `${exists} ${uidNext} ${highestModseq}` : undefined;
  }

  /** `isAll`: of all that the folder has, which the server says in two ways. */
  private async uidsOf(client: ImapFlow, mailbox: MailboxObject): Promise<{ uids: number[]; isAll: boolean }> {
    const { settings, nowMs } = this.options;
    const isAll = settings.since_days === 0;
    const { exists } = mailbox;
    if (exists === 0) return { uids: [], isAll };
    const query = isAll ? { all: true } : { since: new Date(nowMs() - settings.since_days * DAY_MS) };
    const found = await client.search(query, { uid: true });
    if (!Array.isArray(found)) throw new SourceFailedError('The server could not say which messages it has.');
    // It says how many there are as they come and go.
    const least = Math.min(exists, mailbox.exists);
    if (isAll && found.length < least)
      throw new SourceFailedError(`The server names ${found.length} of ${least} messages that it has.`);
    return { uids: found, isAll };
  }

  /** Puts the names of those that are told of into `wanted.names`, one by one. */
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
        // By what was sent: sizes that servers name are estimates on some.
        isCut: source.length >= messageBytesMax,
      };
      const { messageId, fields, files, isLeftOff } = await readMessage(source, context, slices);
      const name = messageId ?? createHash('sha256').update(source).digest('base64url').slice(0, HASH_CHARACTERS);
      // The same message in a second folder, or a second copy of it.
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

/** The server understood the command, and says no to it. */
function isRefusal(error: unknown): boolean {
  return (error as { readonly responseStatus?: unknown }).responseStatus === 'NO';
}

function isDisconnected(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'NoConnection';
}

/** A sentence without secrets. */
function failure(error: unknown): unknown {
  if (error instanceof SourceFailedError || isOutOfSpace(error)) return error;
  if (error instanceof OutboundRefusedError)
    return new SourceFailedError(`The mailbox cannot be read: ${error.message}`, undefined, { cause: error });
  if ((error as { readonly authenticationFailed?: boolean }).authenticationFailed === true)
    return new SourceFailedError('The server refused the sign-in.', undefined, { cause: error });
  const told = `The mailbox cannot be read: ${faultSentence(error)}${goodbyeOf(error)}`;
  return new SourceFailedError(told, undefined, { cause: error });
}

/** Why the server ended the connection by its own word, such as that there are too many. */
function goodbyeOf(error: unknown): string {
  const { code, reason } = error as { readonly code?: unknown; readonly reason?: unknown };
  // OpenSSL has its own reasons.
  const isGoodbye = typeof code === 'string' && code.startsWith('ClosedAfterConnect');
  if (!isGoodbye || typeof reason !== 'string' || reason === '') return '';
  return ` It said: ${reason.slice(0, GOODBYE_CHARACTERS_MAX).replace(/[\p{Cc}\s]+/gu, ' ')}`;
}
