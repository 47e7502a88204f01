import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FromWorker, ToWorker } from '../../platform/hosts/index.js';
import { shortForms } from './short-forms.js';

const { toWorker, fromWorker } = shortForms;
const number = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const model = fc.record({ folder: fc.string({ unit: 'grapheme' }), fingerprint: fc.string() });

const question = (of: { number: number; name?: string; texts: string[] }): ToWorker => ({
  kind: 'question',
  number: of.number,
  name: of.name ?? 'embed',
  ask: { model: { folder: '/models/a' }, tokensMax: 256, texts: of.texts },
});
const answer = (value: unknown): FromWorker => ({ kind: 'answer', number: 1, reply: { ok: true, value } });

describe('the short forms of messages to models', () => {
  it('unpack to the question of one text, whatever the model and the text', () => {
    const asked = fc.record({ model, tokensMax: fc.nat(), texts: fc.tuple(fc.string({ unit: 'grapheme' })) });
    fc.assert(
      fc.property(number, asked, (of, ask) => {
        const message: ToWorker = { kind: 'question', number: of, name: 'embed', ask };
        const packed = toWorker.pack(message);
        expect(packed && toWorker.unpack(packed)).toEqual(message);
      }),
    );
  });

  it('distinguish models and token limits of successive questions', () => {
    const [first, second] = [{ folder: 'a' }, { folder: 'b' }];
    for (const [each, tokensMax] of [
      [first, 1],
      [second, 1],
      [first, 2],
      [first, 1],
    ] as const) {
      const message: ToWorker = {
        kind: 'question',
        number: 1,
        name: 'embed',
        ask: { model: each, tokensMax, texts: ['a\nb'] },
      };
      const packed = toWorker.pack(message);
      expect(packed && toWorker.unpack(packed)).toEqual(message);
    }
  });

  it('unpack to the numbers of one vector', () => {
    fc.assert(
      fc.property(number, fc.float32Array(), (of, vector) => {
        const message: FromWorker = { kind: 'answer', number: of, reply: { ok: true, value: { vectors: [vector] } } };
        const packed = fromWorker.pack(message);
        expect(packed && fromWorker.unpack(packed)).toEqual(message);
      }),
    );
  });

  it('do not exist for other messages', () => {
    const others: ToWorker[] = [
      question({ number: 1, texts: ['one', 'two'] }),
      question({ number: 1, texts: [] }),
      question({ number: 1, texts: ['half a character: \ud800'] }),
      question({ number: 1, name: 'passages', texts: ['one'] }),
      { kind: 'cancel', number: 1 },
      { kind: 'close' },
    ];
    for (const message of others) expect(toWorker.pack(message)).toBeUndefined();
    const vector = new Float32Array(2);
    const failure: FromWorker = {
      kind: 'answer',
      number: 1,
      reply: { ok: false, error: { problem: 'conflict', detail: '' } },
    };
    const values = [{ vectors: [vector, vector] }, { vectors: [] }, { vector }, { fault: 'text', detail: 'none' }];
    for (const message of [failure, ...values.map(answer)]) expect(fromWorker.pack(message)).toBeUndefined();
  });
});
