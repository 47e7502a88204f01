/** Encoded passages: each line keeps its time, and other text is an error. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodePassage, encodePassage, textOfPassage } from './timed-text.js';

it('encodePassage keeps every cue, to the millisecond', () => {
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

it('encodePassage replaces a line end within a cue, which would end it', () => {
  const passage = decodePassage(encodePassage([{ seconds: 1.5, text: 'One\ntwo' }]));
  expect(passage).toEqual([{ seconds: 1.5, text: 'One two' }]);
  expect(textOfPassage([...passage, { seconds: 2, text: 'three' }])).toBe('One two\nthree');
});

it.each(['no number', '12', ' 1', 'x 1'])('decodePassage refuses other text: %j', (text) => {
  expect(() => decodePassage(text)).toThrow('not as it was written');
});
