/** Resolves with the promise, or after so many milliseconds without it; what becomes of it is not looked at. */
export async function waitAtMost(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, waited]);
  clearTimeout(timer);
}
