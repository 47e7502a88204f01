/** Tests the progress of long steps: one line that changes on a terminal, further lines elsewhere. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { CompiledCount } from './compiled-count.mjs';
import { run, step } from './steps.mjs';

/** Starts the line of a terminal over. */
const ANEW = '\r\u001b[K';

/** Returns an output with `until(text)`, which resolves when the text was written. */
function watchedOutput(isTTY) {
  let written = '';
  const waiting = [];
  return {
    isTTY,
    write(text) {
      written += text;
      for (const { wanted, found } of waiting) if (written.includes(wanted)) found();
    },
    text: () => written,
    until: (wanted) => new Promise((found) => waiting.push({ wanted, found })),
  };
}

it.each([
  ['a terminal', true, `${ANEW}Compiling … 7 of 9 files${ANEW}Compiling … 7 of 9 files`],
  ['a log', false, 'Compiling … 7 of 9 files\nCompiling … 7 of 9 files\n'],
])('step writes the progress of a long step to %s repeatedly', async (_name, isTTY, wanted) => {
  const output = watchedOutput(isTTY);
  await step(
    'Compiling',
    async (tell) => {
      tell('7 of 9 files');
      await output.until(wanted);
    },
    { output, longMs: 1, everyMs: 1 },
  );
  expect(output.text()).toMatch(/Compiling \(\d+ ms\)\n$/);
});

it('step writes a short step once at its end, but its beginning, too, on a terminal', async () => {
  const terminal = watchedOutput(true);
  await step('Linking', () => undefined, { output: terminal });
  expect(terminal.text().split(ANEW)).toEqual(['', 'Linking …', expect.stringMatching(/^Linking \(\d+ ms\)\n$/)]);
  const log = watchedOutput(false);
  await step('Linking', () => 'left out', { output: log });
  expect(log.text()).toMatch(/^Linking: left out \(\d+ ms\)\n$/);
});

it('run passes on the lines of a program as they come', async () => {
  const lines = [];
  const { code, output } = await run(process.execPath, ['-e', 'console.log("a\\nb")'], {
    onLine: (line) => lines.push(line),
  });
  expect([code, output, lines]).toEqual([0, 'a\nb\n', ['a', 'b']]);
});

it('CompiledCount counts the files whose compilation began, out of those in the makefiles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-makefiles-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const object = (name) => `$(obj).target/$(TARGET)/kernel/${name}.o`;
  writeFileSync(
    join(folder, 'gannet_kernel.target.mk'),
    `OBJS := \\\n\t${object('a')} \\\n\t${object('b')}\n\n# Add to the list\nall_deps += $(OBJS)\n`,
  );
  writeFileSync(join(folder, 'lmdb.target.mk'), `OBJS := \\\n\t${object('mdb')}\n`);
  const count = new CompiledCount(folder, true);
  expect(count.told()).toBe('');
  for (const line of ['make: Entering directory', '  CXX(target) Release/obj.target/gannet_kernel/kernel/a.o'])
    count.take(line);
  expect(count.told()).toBe('1 of 3 files');
  count.take('  CC(target) Release/obj.target/lmdb/mdb.o');
  count.take('  SOLINK_MODULE(target) Release/obj.target/gannet_kernel.node');
  expect(count.told()).toBe('2 of 3 files');
  const some = new CompiledCount(folder, false);
  some.take('  CXX(target) Release/obj.target/gannet_kernel/kernel/b.o');
  expect(some.told()).toBe('1 file');
});
