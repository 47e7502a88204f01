/**
 * Recordings are cut into files that are short enough: each is a valid file, together they are the whole, and each
 * knows its time.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matroskaOf, mp3Of, wavOf } from '../../test/support/recordings.js';
import { cutSound } from './cut-sound.js';
import { recordingFormat } from './recording-format.js';

const WAV_HEAD_BYTES = 44;
const MP3_FRAME_BYTES = 417;
const MP3_FRAME_SECONDS = 1152 / 44_100;

it('cutSound returns a short recording as it is, with its type', () => {
  const bytes = mp3Of({ title: 'Birds' });
  const pieces = cutSound(bytes, bytes.length);
  expect(pieces).toHaveLength(1);
  expect(pieces?.[0]?.seconds).toBe(0);
  expect(pieces?.[0]?.sound()).toEqual({ bytes, fileName: 'recording.mp3', mimeType: 'audio/mpeg' });
});

it('cutSound cuts a WAV file between its samples', () => {
  const bytes = wavOf({ title: 'Birds', seconds: 3 });
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 48_000 }), (bytesMax) => {
      const pieces = cutSound(bytes, bytesMax) ?? [];
      let samples = 0;
      for (const { seconds, sound } of pieces) {
        expect(seconds).toBeCloseTo(samples / 8000, 6);
        const piece = Buffer.from(sound().bytes);
        expect(piece.length).toBeLessThanOrEqual(bytesMax);
        expect(recordingFormat(piece)).toBe('wav');
        expect(piece.readUInt32LE(4)).toBe(piece.length - 8);
        expect(piece.readUInt32LE(WAV_HEAD_BYTES - 4)).toBe(piece.length - WAV_HEAD_BYTES);
        samples += (piece.length - WAV_HEAD_BYTES) / 2;
      }
      expect(samples).toBe(24_000);
    }),
    { numRuns: 50 },
  );
});

it('cutSound cuts an MP3 file between its frames, and leaves out its tags', () => {
  const bytes = mp3Of({ title: 'Birds', frames: 100 });
  const pieces = cutSound(bytes, 10 * MP3_FRAME_BYTES + 5) ?? [];
  expect(pieces).toHaveLength(10);
  for (const [index, { seconds, sound }] of pieces.entries()) {
    expect(seconds).toBeCloseTo(index * 10 * MP3_FRAME_SECONDS, 6);
    expect(sound().bytes).toHaveLength(10 * MP3_FRAME_BYTES);
    expect(recordingFormat(sound().bytes)).toBe('mp3');
  }
});

it('cutSound cuts no other formats', () => {
  expect(cutSound(matroskaOf({ title: 'Birds' }), 10)).toBeUndefined();
  expect(cutSound(Buffer.from('%PDF-1.7'), 1000)).toBeUndefined();
});

it('cutSound returns parts that are short enough or none, whatever bytes are changed', () => {
  const good = [wavOf({ title: 'Birds' }).subarray(0, 3000), mp3Of({ title: 'Birds', frames: 20 })];
  const changes = fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 0, max: 255 })), { maxLength: 8 });
  fc.assert(
    fc.property(fc.nat(good.length - 1), changes, fc.integer({ min: 1, max: 5000 }), (which, changed, bytesMax) => {
      const damaged = Uint8Array.from(good[which] ?? []);
      for (const [at, value] of changed) damaged[at] = value;
      for (const { seconds, sound } of cutSound(damaged, bytesMax) ?? []) {
        expect(seconds).toBeGreaterThanOrEqual(0);
        expect(sound().bytes.length).toBeLessThanOrEqual(bytesMax);
      }
    }),
    { numRuns: 500 },
  );
});
