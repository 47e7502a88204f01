/**
 * What the main thread and somebody who works for it, a thread or a process, say to each other: plain data, in the order in
 * which it was said. A protocol is a type; both ends are checked against it.
 */
import type { WorkerReply } from './reply.js';

/** By name: what is asked and what is answered, what is told, and what the worker says unasked. */
export interface Protocol {
  readonly questions: Readonly<Record<string, { readonly ask: unknown; readonly answer: unknown }>>;
  /** Needs no answer. */
  readonly notices: Readonly<Record<string, unknown>>;
  /** From the worker. */
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
  /** Whoever asked wants no answer any more. */
  | { readonly kind: 'cancel'; readonly number: number }
  | { readonly kind: 'notice'; readonly name: string; readonly content: unknown }
  | { readonly kind: 'close' };

export type FromWorker =
  | { readonly kind: 'answer'; readonly number: number; readonly reply: WorkerReply<unknown> }
  | { readonly kind: 'event'; readonly name: string; readonly content: unknown };

/** What a thread says first, once it has loaded what it needs: from then on V8 may have other flags (`startThreads`). It does not get to the host. */
export const UP = 'up';
