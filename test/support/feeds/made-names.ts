/** Environment that makes a service look up names as a test defines (`made-names.mjs`). */
export function namesEnvironment(namesFile: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import ${new URL('./made-names.mjs', import.meta.url).href}`, MADE_NAMES: namesFile };
}
