/** Path of Chromium, or undefined if there is none. */
export function chromiumPath(): string | undefined;
export const CHROMIUM_ARGUMENTS: readonly string[];
