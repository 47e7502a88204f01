/** Runs an action on many items, a few at a time. */

/**
 * Resolves when all are done. After a failure, begins no others, and rejects with the first one once none is in
 * progress.
 */
export async function inParallel<Item>(
  items: Iterable<Item>,
  width: number,
  action: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const work = async () => {
    for (let next = left.next(); next.done !== true && failures.length === 0; next = left.next()) {
      try {
        await action(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  if (failures.length > 0) throw failures[0];
}
