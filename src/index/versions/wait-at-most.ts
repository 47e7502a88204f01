/** Resolves when the promise does, or after so many milliseconds; the promise's result is ignored after that. */
export async function waitAtMost(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, waited]);
  clearTimeout(timer);
}
