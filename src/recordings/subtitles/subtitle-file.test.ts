/** Subtitles as people write them are read leniently, and never an error. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { subtitlesOf } from '../../../test/support/recordings.js';
import { decodeText, plainText } from './plain-text.js';
import { isSubtitles, readSubtitles } from './subtitle-file.js';

const cuesOf = (text: string) => readSubtitles(text, 1000).cues;

describe('subtitles', () => {
  it('are the lines after their times, without markup', () => {
    const text =
      '1\r\n00:01:02,500 --> 00:01:04,000\r\n<i>The gannet</i>\r\n{\\an8}dives &amp; swims\r\n\r\n2\r\n01:00:00,0 --> 01:00:01,0\r\nIt nests';
    expect(cuesOf(text)).toEqual([
      { seconds: 62.5, text: 'The gannet dives & swims' },
      { seconds: 3600, text: 'It nests' },
    ]);
  });

  it('can be WebVTT with notes, styles, names and settings', () => {
    const text =
      'WEBVTT - A film\n\nSTYLE\n::cue { color: red }\n\nNOTE said later\n\nfirst\n00:03.250 --> 00:04.000 align:start\n<v Ada>Hello\n\n1:00:00.000 --> 1:00:01.000\n&lt;End&gt;&#33;';
    expect(cuesOf(text)).toEqual([
      { seconds: 3.25, text: 'Hello' },
      { seconds: 3600, text: '<End>!' },
    ]);
  });

  it('can lack the blank lines between them', () => {
    expect(cuesOf('1\n00:00:01,000 --> 00:00:02,000\nOne\n2\n00:00:03,000 --> 00:00:04,000\nTwo')).toEqual([
      { seconds: 1, text: 'One' },
      { seconds: 3, text: 'Two' },
    ]);
  });

  it('are distinguished from other texts', () => {
    expect(isSubtitles('\uFEFFWEBVTT\n\n')).toBe(true);
    expect(isSubtitles('1\n00:00:01,000 --> 00:00:02,000\nOne')).toBe(true);
    expect(isSubtitles('An arrow --> here')).toBe(false);
  });
});

it('readSubtitles reads back what was written, in both formats', () => {
  const line = fc.stringMatching(/^[A-Za-zéß日][A-Za-z éß日]{0,30}[a-z]$/);
  const cue = fc.record({ seconds: fc.nat(35_999_999).map((milliseconds) => milliseconds / 1000), text: line });
  fc.assert(
    fc.property(fc.array(cue, { maxLength: 20 }), fc.constantFrom('srt' as const, 'vtt' as const), (cues, kind) => {
      const expected = cues.map(({ seconds, text }) => ({ seconds, text: plainText(text) }));
      expect(cuesOf(decodeText(subtitlesOf(cues, kind)))).toEqual(expected);
    }),
  );
});

it('readSubtitles reads any text without an error, and no more cues than requested', () => {
  const times = fc.constantFrom('00:00:01,000 --> 00:00:02,000\n', '\n', '\r', '<', '{\\', '&#9999999;', '-->', '00:');
  fc.assert(
    fc.property(fc.array(fc.oneof(times, fc.string({ unit: 'binary' })), { maxLength: 60 }), (parts) => {
      const { cues } = readSubtitles(parts.join(''), 5);
      expect(cues.length).toBeLessThanOrEqual(5);
      for (const { seconds, text } of cues) {
        expect(seconds).toBeGreaterThanOrEqual(0);
        expect(text).toBe(plainText(text) === '' ? '' : text.trim());
        expect(text).not.toBe('');
      }
    }),
    { numRuns: 500 },
  );
});

it('readSubtitles takes linear time, whatever the text is', () => {
  for (const unit of ['<', '{\\', '&', '-->', '\n', '\r', '00:00:01,000 --> 00:00:02,000\n', '0', '00:'])
    expect(readSubtitles(unit.repeat(1_000_000 / unit.length), 1000).cues.length).toBeLessThanOrEqual(1000);
});

it('decodeText decodes texts with and without a byte order mark', () => {
  expect(decodeText(Buffer.from('\uFEFFé'))).toBe('é');
  expect(decodeText(Buffer.from('\uFEFFé', 'utf16le'))).toBe('é');
  expect(decodeText(Buffer.from('\uFEFFé', 'utf16le').swap16())).toBe('é');
  expect(decodeText(Uint8Array.of(0x63, 0xe9))).toBe('cé');
});
