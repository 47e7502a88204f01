/**
 * Tests compiled code that is stored next to the bundle: every thread uses it, and ignores it silently if it is
 * damaged, or from another source, another V8 or other flags.
 */
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gannet-kept-code-'));
const bundle = join(folder, 'dist', 'bundle');
const code = join(bundle, 'code');
const watcher = join(folder, 'watcher.cjs');

/** Preloaded into each thread: logs for each script whether its code was offered to V8, and accepted. */
const WATCHER = `
const fs = require('node:fs');
const vm = require('node:vm');
const { threadId } = require('node:worker_threads');
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    const fate = options.cachedData === undefined ? 'none' : this.cachedDataRejected ? 'rejected' : 'taken';
    fs.appendFileSync(process.env.WATCHED, threadId + ' ' + fate + ' ' + options.filename + '\\n');
  }
};`;

beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  for (const copied of ['bin', 'config', 'package.json', 'dist/bundle', 'dist/src/platform'])
    cpSync(join(PACKAGE, copied), join(folder, copied), { recursive: true, dereference: true });
  for (const linked of ['node_modules', 'native-bindings']) symlinkSync(join(PACKAGE, linked), join(folder, linked));
  mkdirSync(join(folder, 'data'));
  writeFileSync(watcher, WATCHER);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Loaded {
  readonly thread: number;
  readonly fate: string;
}

const watched = join(folder, 'watched');
const environment = () => ({
  ...process.env,
  GANNET_DATA_DIR: join(folder, 'data'),
  GANNET_PORT: '0',
  GANNET_LOG_LEVEL: 'fatal',
  WATCHED: watched,
});

function loaded(): readonly Loaded[] {
  const lines = existsSync(watched) ? readFileSync(watched, 'utf8').trimEnd().split('\n') : [];
  rmSync(watched, { force: true });
  return lines.map((line) => ({ thread: Number(line.split(' ')[0]), fate: line.split(' ')[1] as string }));
}

const fates = () => [...new Set(loaded().map(({ fate }) => fate))].sort();

/** Returns what `gannet --help` prints; it must end well, with nothing on standard error. */
function help(...flags: readonly string[]): Promise<string> {
  const program = ['--require', watcher, join(folder, 'bin', 'gannet.js'), '--help'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...flags, ...program], { env: environment() }, (error, output, notes) => {
      if (error === null && notes === '') resolve(output);
      else reject(new Error(`gannet --help: ${notes}`, { cause: error }));
    });
  });
}

/** Starts the service, and stops it once it is ready. */
async function serveOnce(): Promise<void> {
  const program = ['--require', watcher, join(folder, 'bin', 'gannet.js'), 'serve'];
  const child = spawn(process.execPath, program, { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let isAsked = false;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (isAsked || !output.includes('ready on')) return;
    // A second signal would end it at once.
    isAsked = true;
    child.kill('SIGTERM');
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  expect(status, output).toBe(0);
}

const keptFiles = () =>
  readdirSync(code).flatMap((tag) => readdirSync(join(code, tag)).map((name) => join(code, tag, name)));

describe('compiled code', () => {
  it('is used for everything that a start loads, in every thread', async () => {
    await serveOnce();
    const all = loaded();
    expect(all.filter(({ fate }) => fate !== 'taken')).toEqual([]);
    expect(new Set(all.map(({ thread }) => thread)).size).toBeGreaterThan(1);
    await help();
    expect(fates()).toEqual(['taken']);
  });

  it('is not given to V8 if bits of it are flipped, or if it is cut off or empty', async () => {
    const damages: ((file: string, bytes: Buffer) => void)[] = [
      (file, bytes) => {
        bytes[bytes.length - 1]! ^= 1;
        writeFileSync(file, bytes);
      },
      (file, bytes) => {
        truncateSync(file, bytes.length >> 1);
      },
      (file) => {
        truncateSync(file, 8);
      },
      (file) => {
        truncateSync(file, 0);
      },
    ];
    for (const damage of damages) {
      for (const file of keptFiles()) damage(file, readFileSync(file));
      await help();
      expect(fates()).toEqual(['none']);
    }
    await serveOnce();
    expect(fates()).toEqual(['none']);
  });

  it('is not used after its source has changed, even if the length is the same', async () => {
    const file = join(bundle, 'src', 'cli', 'index.cjs');
    const source = readFileSync(file, 'utf8');
    const changed = source.replace('A search service for one machine.', 'A search servant for two machines'); // prettier-ignore
    expect(changed).not.toBe(source);
    expect(changed).toHaveLength(source.length);
    writeFileSync(file, changed);
    expect(await help()).toContain('A search servant for two machines');
    expect(fates()).toEqual(['none', 'taken']);
  });

  it('is not used with other flags of V8', async () => {
    await help('--stack-size=900');
    expect(fates()).toEqual(['none']);
  });

  it('is silently rejected by V8 if it comes from another V8', async () => {
    const [taken] = readdirSync(code) as [string];
    const other = join(folder, 'tag.cjs');
    writeFileSync(other, "console.log(require('node:v8').cachedDataVersionTag().toString(16))");
    const tag = await new Promise<string>((resolve, reject) => {
      execFile(process.execPath, ['--stack-size=900', other], (error, output) => {
        if (error === null) resolve(output.trim());
        else reject(new Error(`no tag`, { cause: error }));
      });
    });
    cpSync(join(code, taken), join(code, tag), { recursive: true });
    await help('--stack-size=900');
    expect(fates()).toEqual(['rejected']);
  });

  it('is not needed for a start', async () => {
    rmSync(code, { recursive: true });
    await serveOnce();
    expect(fates()).toEqual(['none']);
  });
});

describe('the script that stores compiled code', () => {
  const keep = () =>
    new Promise<string>((resolve) => {
      const program = join(PACKAGE, 'scripts', 'lib', 'keep-code.mjs');
      execFile(process.execPath, [program, folder], (error, _, notes) => {
        resolve(error === null ? '' : notes);
      });
    });

  it('stores what a service and commands load, for each tuning', async () => {
    const before = keptFiles().length;
    rmSync(code, { recursive: true });
    expect(await keep()).toBe('');
    expect(keptFiles().length).toBeGreaterThan(before / 2);
    await serveOnce();
    expect(fates()).toEqual(['taken']);
  });

  it('stores everything that a command loads, however slow it is', async () => {
    const program = join(folder, 'bin', 'gannet.js');
    const slow = `if (!process.argv.includes('serve')) await new Promise((resolve) => setTimeout(resolve, 200));\n`;
    const text = readFileSync(program, 'utf8');
    const loading = 'const { runCommandLine }';
    expect(text).toContain(loading);
    writeFileSync(program, text.replace(loading, `${slow}${loading}`));
    rmSync(code, { recursive: true });
    expect(await keep()).toBe('');
    await help();
    expect(fates()).toEqual(['taken']);
  });

  it('stores code that V8 takes, also where the service is tuned while its threads write theirs', async () => {
    const program = join(folder, 'bin', 'gannet.js');
    const tuned = "setInterval(() => require('node:v8').setFlagsFromString('--heap-growing-percent=300'), 5).unref();";
    const loading = 'assertNode();\n';
    const text = readFileSync(program, 'utf8');
    expect(text).toContain(loading);
    const withRequire = `const require = createRequire(import.meta.url);\n${tuned}\n`;
    writeFileSync(
      program,
      text.replace(loading, () => `${withRequire}${loading}`),
    );
    rmSync(code, { recursive: true });
    expect(await keep()).toBe('');
    writeFileSync(program, text);
    await serveOnce();
    expect(fates()).toEqual(['taken']);
  });

  it('gives the stored code the permissions of the bundle, as the service may run as another user', async () => {
    expect(await keep()).toBe('');
    const source = statSync(join(bundle, 'src', 'main.cjs')).mode & 0o777;
    expect([...new Set(keptFiles().map((file) => statSync(file).mode & 0o777))]).toEqual([source]);
  });

  it('leaves nothing behind if the service cannot be started', async () => {
    const built = readdirSync(bundle).filter((name) => name !== basename(code));
    truncateSync(join(bundle, 'src', 'main.cjs'), 100);
    expect(await keep()).toMatch(/the service ended: .*npm run setup/);
    expect(readdirSync(bundle)).toEqual(built);
  });
});
