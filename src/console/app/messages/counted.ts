/** `1 record`, `5,000 records`: a number as it is shown, with what there are so many of. */
export function counted(shown: string, one: string): string {
  return `${shown} ${shown === '1' ? one : `${one}s`}`;
}
