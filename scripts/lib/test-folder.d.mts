/** A folder of this beginning for all that is temporary, and what takes it away with whatever is in it. */
export function openTestFolder(
  prefix: string,
  memoryFolder?: string,
): { readonly folder: string; readonly remove: () => void };
