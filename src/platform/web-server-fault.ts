/** Why uWebSockets.js cannot be loaded. Its own message names versions of Node.js first, whatever the reason is. */
import { OperatorError } from './operator-error.js';

/** What its message begins with, and the reason behind it. */
const REFUSAL = /^This version of uWS\.js[^\n]*(?:\n+(?:\w*Error: )?([^\n]+))?/;
const GLIBC_MISSING = /version [`']GLIBC_([\d.]+)' not found/;

/** A sentence or two that say what to do; undefined for what is no refusal of the library. */
export function webServerFault(error: unknown): string | undefined {
  const refusal = REFUSAL.exec(error instanceof Error ? error.message : '');
  if (refusal === null) return undefined;
  const reason = refusal[1] ?? '';
  const glibc = GLIBC_MISSING.exec(reason)?.[1];
  const { version, platform, arch, report } = process;
  const machine = `Node.js ${version.slice(1)} on ${platform} ${arch}`;
  if (glibc !== undefined) {
    const { header } = report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
    const present = header?.glibcVersionRuntime ?? 'an older one';
    return `Its binary for ${machine} needs glibc ${glibc}, and this machine has ${present}: take Node.js 20, or a newer system (Debian 13, Ubuntu 24.04).`;
  }
  if (reason.startsWith('Cannot find module'))
    return `It has no binary for ${machine}: take Node.js 20, 22 or 24 on Linux or macOS. Where this is one of them, \`npm ci\` puts the binary back.`;
  return `Its binary for ${machine} cannot be loaded (${reason}): \`npm ci\` puts back what is damaged.`;
}

/** For what the library was imported by. */
export function throwWebServerFault(error: unknown): never {
  const fault = webServerFault(error);
  throw fault === undefined ? error : new OperatorError(`The web server, uWebSockets.js, cannot be loaded. ${fault}`);
}
