import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { asProgramError, RunningProgram } from './program.js';

const root = mkdtempSync(join(tmpdir(), 'gannet-program-'));
afterAll(() => {
  rmSync(root, { recursive: true });
});

function put(path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  rmSync(join(root, path), { force: true });
  writeFileSync(join(root, path), '');
}

function lead(name: string): void {
  mkdirSync(join(root, 'dist', 'bundles', name), { recursive: true });
  rmSync(join(root, 'dist', 'bundle'), { force: true });
  symlinkSync(join('bundles', name), join(root, 'dist', 'bundle'));
}

it('RunningProgram.look names the parts of the program that were replaced on the disk, and since when', async () => {
  const KERNEL = 'native-bindings/build/Release/gannet_kernel.node';
  for (const path of [KERNEL, 'node_modules/.package-lock.json']) put(path);
  lead('a');
  const program = new RunningProgram(root, join(root, 'dist', 'bundles', 'a'));
  expect(await program.look()).toBeUndefined();
  writeFileSync(join(root, 'dist', 'bundle', 'code'), '');
  expect(await program.look()).toBeUndefined();
  lead('b');
  expect(await program.look()).toEqual({ parts: ['dist/bundle'], since: expect.any(Date) });
  put(KERNEL);
  rmSync(join(root, 'node_modules', '.package-lock.json'));
  const parts = ['dist/bundle', KERNEL, 'node_modules/.package-lock.json'];
  expect(await program.look()).toEqual({ parts, since: undefined });
  expect(program.last?.parts).toEqual(parts);
});

it.each([() => import(['gannet', 'without', 'such', 'a', 'library'].join('-')), () => import(`${root}/no-file.js`)])(
  'asProgramError reports a missing library as a replaced program',
  async (load) => {
    const error = await load().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(asProgramError(error)).toMatchObject({ code: 'program-replaced', status: 503, cause: error });
  },
);

it('asProgramError leaves other errors unchanged', () => {
  const error = new TypeError('no function');
  expect(asProgramError(error)).toBe(error);
  expect(asProgramError('a text')).toBe('a text');
  expect(asProgramError(undefined)).toBeUndefined();
});
