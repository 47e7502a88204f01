/** The same done to many things, a few at a time. */

/** Resolves when all are done. Rejects with what failed first, once nothing is under way any more; what was not begun then is not. */
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
