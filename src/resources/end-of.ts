/** Rejects with the signal's reason, when that is there. */
export function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** What the promise resolves or rejects with; rejects with the signal's reason where that is there first. Leaves nothing with the signal. */
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
