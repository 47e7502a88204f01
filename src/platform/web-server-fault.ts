/**
 * Explains why uWebSockets.js cannot be loaded. Its own message always begins with versions of Node.js, whatever the
 * reason.
 */
import { OperatorError } from './operator-error.js';

/** Log line if Node.js's own server is used instead; the fault's advice is added. */
export const WEB_SERVER_REPLACED =
  "uWebSockets.js is not for this machine: Node.js's own web server is in its place, which takes more of a processor for each request";

/** The beginning of its message, and the reason that follows. */
const REFUSAL = /^This version of uWS\.js[^\n]*(?:\n+(?:\w*Error: )?([^\n]+))?/;
const GLIBC_MISSING = /version [`']GLIBC_([\d.]+)' not found/;

export interface WebServerFault {
  /** What to do, in a sentence or two. */
  readonly advice: string;
  /** False if there is no binary for this machine: Node.js's own server is then used instead. */
  readonly isDamage: boolean;
}

/** Returns undefined if the error does not come from loading uWebSockets.js. */
export function webServerFault(error: unknown): WebServerFault | undefined {
  const refusal = REFUSAL.exec(error instanceof Error ? error.message : '');
  if (refusal === null) return undefined;
  const reason = refusal[1] ?? '';
  const glibc = GLIBC_MISSING.exec(reason)?.[1];
  const { version, platform, arch } = process;
  const machine = `Node.js ${version.slice(1)} on ${platform} ${arch}`;
  if (glibc !== undefined) {
    const present = presentGlibc() ?? 'an older one';
    const advice = `Its binary for ${machine} needs glibc ${glibc}, and this machine has ${present}: take Node.js 20, or a newer system (Debian 13, Ubuntu 24.04).`;
    return { advice, isDamage: false };
  }
  if (reason.startsWith('Cannot find module')) {
    const advice = `It has no binary for ${machine}: take Node.js ${releasesFor(presentGlibc())} on Linux or macOS. Where this is one of them, \`npm ci\` puts the binary back.`;
    return { advice, isDamage: false };
  }
  if (platform === 'linux' && presentGlibc() === undefined) {
    const advice = `Its binary for ${machine} needs glibc, which this system does not have: take one that has it, such as Debian.`;
    return { advice, isDamage: false };
  }
  const advice = `Its binary for ${machine} cannot be loaded (${reason}): \`npm ci\` puts back what is damaged.`;
  return { advice, isDamage: true };
}

/** Returns the releases of Node.js with a binary for which this machine's glibc is new enough. */
export function releasesFor(glibc: string | undefined): string {
  const [major = 0, minor = 0] = (glibc ?? '').split('.').map(Number);
  return glibc !== undefined && major * 1000 + minor < 2038 ? '20' : '20 to 25';
}

/** Returns undefined on a system with another C library, such as musl. */
function presentGlibc(): string | undefined {
  const { header } = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime;
}

/** Rethrows an error of importing uWebSockets.js, as an OperatorError if it is one of loading it. */
export function throwWebServerFault(error: unknown): never {
  const fault = webServerFault(error);
  if (fault === undefined) throw error;
  throw new OperatorError(`The web server, uWebSockets.js, cannot be loaded. ${toldWebServerFault(fault)}`);
}

/** Returns the advice for a library that is requested by name, or damaged. */
export function toldWebServerFault({ advice, isDamage }: WebServerFault): string {
  return isDamage ? advice : `${advice} With server.web_server 'auto' Node.js's own web server takes its place.`;
}
