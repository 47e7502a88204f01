import { describe, expect, it } from 'vitest';
import { FrameReader, frameOf } from './frames.js';

function read(chunks: readonly Buffer[]): unknown[] {
  const reader = new FrameReader();
  return chunks.flatMap((chunk) => reader.push(chunk));
}

const MESSAGES = [
  { kind: 'question', number: 1, ask: { texts: ['a gannet dives', 'größer als 𝔄'], none: null } },
  { reply: { ok: true, value: { vectors: [new Float32Array([0.5, -1, 3e-9]), new Float32Array()] } } },
  { pixels: new Uint8Array([1, 2, 255]), passages: [['one', 'two'], [], [{ title: 't', text: 'u' }]] },
  [1, new Uint8Array([7]), 'three'],
  'text',
  null,
];

describe('frames', () => {
  it('say plain data, bytes and vectors, whatever the pieces in which they come', () => {
    const all = Buffer.concat(MESSAGES.map(frameOf));
    for (const size of [1, 3, 4, 5, 64, 1000, all.length]) {
      const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
        Buffer.from(all.subarray(n * size, (n + 1) * size)),
      );
      expect(read(chunks)).toEqual(MESSAGES);
    }
  });

  it('are nothing of the buffer that they came in', () => {
    const frame = frameOf({ vector: new Float32Array([1, 2]), bytes: Uint8Array.of(3) });
    const [first, second] = [frame.subarray(0, 20), frame.subarray(20)];
    const reader = new FrameReader();
    const messages = [first, second].flatMap((part) => {
      const whole = reader.push(part);
      part.fill(0xff);
      return whole;
    });
    expect(messages).toEqual([{ vector: new Float32Array([1, 2]), bytes: Uint8Array.of(3) }]);
  });

  it('hold a part of an array of bytes alone, where it is one of a larger', () => {
    const whole = new Float32Array([1, 2, 3, 4]);
    expect(read([frameOf({ vector: whole.subarray(1, 3), bytes: Buffer.from('abc').subarray(1) })])).toEqual([
      { vector: new Float32Array([2, 3]), bytes: new Uint8Array([98, 99]) },
    ]);
  });

  it('are refused where no process of ours has written them', () => {
    expect(() => read([Buffer.from([0xff, 0xff, 0xff, 0xff])])).toThrow('a message of 4294967295 bytes');
    expect(() => read([Buffer.from([5, 0, 0, 0, 1, 0, 0, 0, 0x7b])])).toThrow(SyntaxError);
  });
});
