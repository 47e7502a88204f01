import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitBatch } from './event-batch.js';

const event = fc.tuple(fc.nat(3), fc.uint8Array({ minLength: 1, maxLength: 300 }));

function lengthAndBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([bytes.length & 0xff, bytes.length >>> 8]), bytes]);
}

describe('splitBatch', () => {
  it('gives each target its events in their order', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (events) => {
        const bytes = Buffer.concat(
          events.map(([target, own]) => Buffer.concat([Buffer.from([target, 0]), lengthAndBytes(own)])),
        );
        const blocks = splitBatch({ bytes, targets: ['a', 'b', 'c', 'd'] });
        for (const [index, block] of blocks.entries()) {
          const own = events.filter(([target]) => target === index).map(([, each]) => lengthAndBytes(each));
          expect(Buffer.from(block)).toEqual(Buffer.concat(own));
        }
      }),
    );
  });

  it('refuses other bytes with a RangeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          const blocks = splitBatch({ bytes, targets: ['a'] });
          expect(blocks).toHaveLength(1);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});
