/** Passages as they are kept: each line comes back with its second, and other text is an error. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodePassage, encodePassage, textOfPassage } from './timed-text.js';

it('gives back every cue, to the millisecond', () => {
  const cue = fc.record({
    seconds: fc.nat(1e9).map((milliseconds) => milliseconds / 1000),
    text: fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replace(/[\r\n]/gu, '_')),
  });
  fc.assert(
    fc.property(fc.array(cue, { maxLength: 20 }), (passage) => {
      expect(decodePassage(encodePassage(passage))).toEqual(passage);
    }),
  );
});

it('keeps a line end within a cue from ending it', () => {
  const passage = decodePassage(encodePassage([{ seconds: 1.5, text: 'One\ntwo' }]));
  expect(passage).toEqual([{ seconds: 1.5, text: 'One two' }]);
  expect(textOfPassage([...passage, { seconds: 2, text: 'three' }])).toBe('One two\nthree');
});

it.each(['no number', '12', ' 1', 'x 1'])('refuses what was not written so: %j', (text) => {
  expect(() => decodePassage(text)).toThrow('not as it was written');
});
