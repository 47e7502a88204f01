/** Rejects with the signal's reason when the signal is aborted. */
export function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
