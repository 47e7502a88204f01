/** Cues are joined in their order, and none of their text is lost. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { passagesOf } from './passages.js';

it('passagesOf joins cues within a minute', () => {
  const cues = [0, 20, 60, 61, 300].map((seconds) => ({ seconds, text: `At ${seconds}` }));
  expect(passagesOf(cues).map((passage) => passage.map(({ seconds }) => seconds))).toEqual([[0, 20, 60], [61], [300]]);
});

it('passagesOf loses no word, sorts by time, and makes no long passages', () => {
  const cue = fc.record({ seconds: fc.nat(500), text: fc.stringMatching(/^[a-z]{1,9}( [a-z]{1,9}){0,600}$/) });
  fc.assert(
    fc.property(fc.array(cue, { maxLength: 40 }), (cues) => {
      const passages = passagesOf(cues);
      const sorted = [...cues].sort((a, b) => a.seconds - b.seconds);
      const words = (all: readonly { readonly text: string }[]) => all.map(({ text }) => text).join(' ');
      expect(words(passages.flat())).toBe(words(sorted));
      for (const passage of passages) expect(passage.length === 1 || words(passage).length < 700).toBe(true);
    }),
  );
});
