/**
 * Messages between the main thread and a worker, a thread or a process: plain data, in order. A protocol is a type
 * against which both ends are checked.
 */
import type { WorkerReply } from './reply.js';

/** Messages by name: questions with their answers, notices to the worker, and events from it. */
export interface Protocol {
  readonly questions: Readonly<Record<string, { readonly ask: unknown; readonly answer: unknown }>>;
  /** Messages to the worker without an answer. */
  readonly notices: Readonly<Record<string, unknown>>;
  /** Messages from the worker that nobody asked for. */
  readonly events: Readonly<Record<string, unknown>>;
}

export type QuestionName<P extends Protocol> = keyof P['questions'] & string;
export type Ask<P extends Protocol, Name extends QuestionName<P>> = P['questions'][Name]['ask'];
export type Answer<P extends Protocol, Name extends QuestionName<P>> = P['questions'][Name]['answer'];
export type NoticeName<P extends Protocol> = keyof P['notices'] & string;
export type EventName<P extends Protocol> = keyof P['events'] & string;

/** `[name, content]` of any event of the protocol. */
export type ProtocolEvent<P extends Protocol> = {
  [Name in EventName<P>]: readonly [name: Name, content: P['events'][Name]];
}[EventName<P>];

export type ToWorker =
  | { readonly kind: 'question'; readonly number: number; readonly name: string; readonly ask: unknown }
  /** The caller no longer wants the answer. */
  | { readonly kind: 'cancel'; readonly number: number }
  | { readonly kind: 'notice'; readonly name: string; readonly content: unknown }
  | { readonly kind: 'close' };

export type FromWorker =
  | { readonly kind: 'answer'; readonly number: number; readonly reply: WorkerReply<unknown> }
  | { readonly kind: 'event'; readonly name: string; readonly content: unknown }
  /** Closing failed; the worker ends. */
  | { readonly kind: 'unclosed'; readonly stack: string };

/**
 * First message of a thread, sent once it has loaded its code: from then on V8's flags may change (`startThreads`). Not
 * passed to the host.
 */
export const UP = 'up';
