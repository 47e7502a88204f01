/** Makes a folder for temporary files, whose name begins with `prefix`, and returns it with a function that removes it. */
export function openTestFolder(
  prefix: string,
  memoryFolder?: string,
): { readonly folder: string; readonly remove: () => void };
