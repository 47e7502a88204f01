/** Undefined where there is none. */
export function chromiumPath(): string | undefined;
export const CHROMIUM_ARGUMENTS: readonly string[];
