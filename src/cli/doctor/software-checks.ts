/** Checks of Node.js, build tools and native libraries. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterOwnTime, packageRoot, toldWebServerFault, webServerFault, type Config } from '../../platform/index.js';
import { findFfmpeg } from '../../recordings/index.js';
import { failed, fine, messageOf, notice, type Check } from './check.js';

const execute = promisify(execFile);
/** Only reached by a program that hangs. */
const ANSWER_MS_MAX = 30_000;

/** It may hang, or have too little of the processor: what it can do is not known. */
class SilentProgram extends Error {
  constructor(program: string) {
    super(
      `${program} has not said its version within ${ANSWER_MS_MAX / 1000} s: it hangs, or the machine is too busy. Run \`gannet doctor\` again`,
    );
  }
}

/** Returns what the program prints. Rejects if it cannot be run or fails, and with a SilentProgram if it does not end. */
async function run(program: string, words: readonly string[], answerMsMax = ANSWER_MS_MAX): Promise<string> {
  const running = execute(program, words);
  let callOff = (): void => undefined;
  const silent = new Promise<never>((_resolve, reject) => {
    callOff = afterOwnTime(answerMsMax, () => {
      reject(new SilentProgram(program));
      running.child.kill('SIGKILL');
    });
  });
  try {
    return (await Promise.race([running, silent])).stdout;
  } finally {
    callOff();
  }
}

export function nodeCheck(): Check {
  const manifest = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    readonly engines: { readonly node: string };
  };
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = (/\d+\.\d+/.exec(manifest.engines.node)?.[0] ?? '').split('.').map(Number);
  const isNewEnough = major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
  const detail = `${process.versions.node} (needed: ${manifest.engines.node})`;
  return isNewEnough ? fine('Node.js', detail) : failed('Node.js', detail);
}

/** Build tools are not needed to run the service, so a missing one is a notice. */
export async function compilerChecks(): Promise<Check[]> {
  const tools = [
    ['C++ compiler', [process.env['CXX'] ?? 'g++', 'c++', 'clang++']],
    ['make', [process.env['MAKE'] ?? 'make']],
    ['Python 3', ['python3', 'python']],
  ] as const;
  return Promise.all(
    tools.map(async ([name, programs]) => {
      for (const program of programs) {
        try {
          return fine(name, (await run(program, ['--version'])).split('\n')[0]?.trim() ?? '');
        } catch (error) {
          if (error instanceof SilentProgram) return notice(name, error.message);
        }
      }
      return notice(name, 'not found; needed only to build the kernel after an upgrade');
    }),
  );
}

export async function kernelCheck(): Promise<Check> {
  try {
    const { kernel } = await import('../../../native-bindings/index.js');
    const parts = Object.entries(kernel.build).map(([name, value]) => `${name} ${value}`);
    return fine('Search kernel', parts.join(', '));
  } catch (error) {
    return failed('Search kernel', `${messageOf(error)}: run \`npm run setup\``);
  }
}

/** Checks the configured web server. */
export async function webServerCheck(wanted: Config['server']['web_server']): Promise<Check> {
  if (wanted === 'node') return fine('Web server', "Node.js's own (server.web_server)");
  try {
    const module = await import('uWebSockets.js');
    const usable = typeof module.default.App === 'function';
    const { version } = createRequire(import.meta.url)('uWebSockets.js/package.json') as { readonly version: string };
    return usable ? fine('uWebSockets.js', version) : failed('uWebSockets.js', 'the package has no App');
  } catch (error) {
    const fault = webServerFault(error);
    if (fault?.isDamage === false && wanted === 'auto')
      return notice('uWebSockets.js', `${fault.advice} Until then the service uses Node.js's own web server.`);
    if (fault !== undefined) return failed('uWebSockets.js', toldWebServerFault(fault));
    return failed('uWebSockets.js', `${messageOf(error)}: run \`npm ci\` to install it again`);
  }
}

/** Checks the decoder, which separate processes load to read pictures. */
export async function pictureDecoderCheck(): Promise<Check> {
  const name = 'Picture decoder';
  try {
    const { default: sharp } = await import('sharp');
    const pixel = { create: { width: 1, height: 1, channels: 3, background: '#fff' } } as const;
    await sharp(await sharp(pixel).jpeg().toBuffer())
      .raw()
      .toBuffer();
    return fine(name, `sharp ${sharp.versions.sharp}, libvips ${sharp.versions.vips}`);
  } catch (error) {
    return notice(name, `${messageOf(error)}: pictures cannot be read, and searching by picture does not work`);
  }
}

/** `name` comes from the settings. Only frames of videos need a program of the machine. */
export async function ffmpegCheck(name: string, answerMsMax = ANSWER_MS_MAX): Promise<Check> {
  const path = findFfmpeg(name);
  const without = 'videos can be searched by what is said in them, but not by what they show';
  if (path === undefined) return notice('ffmpeg', `${name === '' ? 'none is set' : `no ${name} in PATH`}: ${without}`);
  try {
    const stdout = await run(path, ['-hide_banner', '-version'], answerMsMax);
    return fine('ffmpeg', `${/^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? 'of unknown version'} (${path})`);
  } catch (error) {
    if (error instanceof SilentProgram) return notice('ffmpeg', error.message);
    return notice('ffmpeg', `${messageOf(error)}: ${without}`);
  }
}
