import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellWord } from './shell-word.js';

it('A word is quoted for a shell where it needs that', () => {
  expect(shellWord('/srv/gannet/data')).toBe('/srv/gannet/data');
  expect(shellWord("/srv/a b's")).toBe(String.raw`'/srv/a b'\''s'`);
});

it('A shell reads a quoted word as it is', () => {
  for (const word of ['', 'a b', "it's", '$HOME `id` "x" \\ !', '*', 'zwei\nZeilen', '~', 'ü=1'])
    expect(execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
});
