import { setMaxListeners } from 'node:events';

/**
 * Tells work whether somebody still waits for its answer: the subset of AbortSignal that work polls or listens to, so
 * an AbortSignal is a `Cancellation`. Creating an AbortController takes longer than everything else created for a
 * request.
 */
export interface Cancellation {
  readonly aborted: boolean;
  /** The error that the work rejects with; undefined until `aborted`. */
  readonly reason: unknown;
  /** Adds a listener that is called once, when `aborted` becomes true; never if it is true already. */
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/** The two forms of listeners that EventTarget accepts. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** A signal that is never aborted; any number of listeners may be added. */
export const NEVER: AbortSignal = new AbortController().signal;
setMaxListeners(0, NEVER);

/** Runs an action that takes an AbortSignal, which is aborted when `cancellation` is. */
export async function withSignal<Result>(
  cancellation: Cancellation,
  action: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(cancellation.reason);
  };
  if (cancellation.aborted) abort();
  cancellation.addEventListener('abort', abort);
  try {
    return await action(controller.signal);
  } finally {
    cancellation.removeEventListener('abort', abort);
  }
}

/**
 * Resolves as `promise`, or with undefined as soon as the signal is aborted. Work that cannot be cancelled, such as a
 * system call on a disk that does not respond, continues, but nobody waits for it.
 */
export async function unlessEnded<Result>(signal: Cancellation, promise: Promise<Result>): Promise<Result | undefined> {
  let end = (): void => undefined;
  const ended = new Promise<undefined>((resolve) => {
    end = () => {
      resolve(undefined);
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  });
  try {
    return await Promise.race([ended, promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/**
 * Settles as `promise`, or rejects with the signal's reason if the signal is aborted first. Leaves no listener on the
 * signal.
 */
export async function beforeEndOf<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  let leave = (): void => undefined;
  const end = new Promise<never>((_resolve, reject) => {
    leave = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([promise, end]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Settles as `promise`, or resolves with undefined after so many milliseconds. */
export async function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
