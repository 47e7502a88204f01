/** Returns a formatted number with its noun: `1 record`, `5,000 records`. */
export function counted(shown: string, one: string): string {
  return `${shown} ${shown === '1' ? one : `${one}s`}`;
}
