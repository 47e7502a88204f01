/** Tests the help of `npm test`, and its errors for wrong arguments, which have no stack. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

function npmTest(...args) {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['scripts/test.mjs', ...args], { encoding: 'utf8' });
  return { stdout, stderr, status };
}

it('npm test prints its options for --help', () => {
  const { stdout, stderr, status } = npmTest('--help');
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(stdout).toMatch(/^Usage: npm test .*--stages .*--all .*--times 10 /s);
});

it.each([
  [['--stags', 'lint'], "Unknown option '--stags'. npm test -- --help says what there is.\n"],
  [['src/search'], "Unexpected argument 'src/search'. npm test -- --help says what there is.\n"],
  [['--times'], "Option '--times <value>' argument missing. npm test -- --help says what there is.\n"],
  [['--busy', 'yes'], '--busy is yes: a whole number is expected.\n'],
  [['--stages', 'lnit'], expect.stringMatching(/^There is no stage lnit: there are .*unit, lint.*\n$/)],
])('npm test refuses %j with a message and no stack', (args, stderr) => {
  expect(npmTest(...args)).toEqual({ stdout: '0 passed, 1 failed\n', stderr, status: 1 });
});
