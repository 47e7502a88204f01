import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, printable, printableLines } from './output.js';

/**
 * What controls a terminal: control characters, of which U+009B alone begins a command, and characters that change the
 * direction of text.
 */
const STEERING = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;

describe('output for a terminal', () => {
  it('contains no control sequences, whatever the text is', () => {
    const evil = 'a\u001b[2J b\u009b31m c\u202edcba\u2066 e\r\nf\u007f';
    expect(printable(evil)).toBe('a [2J b 31m c dcba  e f ');
    expect(printableLines(evil)).toBe('a [2J b 31m c dcba  e \nf ');
    expect(printableLines('one\n\ttwo\n')).toBe('one\n\ttwo\n');
    expect(printable('Ünïcode 漢字 עברית العربية \u{1f426}')).toBe('Ünïcode 漢字 עברית العربية \u{1f426}');
  });

  it('is the same value if it is JSON', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom(undefined, 2),
        (value, text, indent) => {
          const given = { value, [text]: `${text}\u009b\u202e` };
          const written = jsonText(given, indent);
          expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(given)));
          expect(written).not.toMatch(STEERING);
        },
      ),
    );
  });
});
