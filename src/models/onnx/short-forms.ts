/**
 * Compact messages between a search and the process of its model, without anything that needs parsing: the model's
 * description as sent before plus one text, and the vector's numbers as they are in memory. Saves microseconds for
 * which a search waits; all other messages are sent as usual.
 */
import type { FromWorker, ShortForms, ToWorker } from '../../platform/hosts/index.js';
import type { OnnxModel, OnnxProtocol } from './onnx-protocol.js';

type Ask = OnnxProtocol['questions']['embed']['ask'];
type ModelAsked = Omit<Ask, 'texts'>;

const NUMBER_BYTES = 4;
/** Follows the model's JSON, which contains no line break. */
const SEPARATOR = '\n';

/** Cache of the head that tells the process which model is meant. */
const said = new WeakMap<OnnxModel, { readonly tokensMax: number; readonly head: string }>();
/** Last head parsed: searches ask one model many times. */
let heard: { readonly head: string; readonly asked: ModelAsked } | undefined;

export const shortForms: ShortForms = {
  toWorker: {
    pack(message) {
      if (message.kind !== 'question' || message.name !== 'embed') return undefined;
      const { model, tokensMax, texts } = message.ask as Ask;
      const [text] = texts;
      // Half of a surrogate pair has no UTF-8 encoding.
      if (text === undefined || texts.length > 1 || !text.isWellFormed()) return undefined;
      const content = headOf(model, tokensMax) + text;
      const bytes = Buffer.allocUnsafe(NUMBER_BYTES + Buffer.byteLength(content));
      bytes.writeUInt32LE(message.number, 0);
      bytes.write(content, NUMBER_BYTES);
      return bytes;
    },
    unpack(bytes): ToWorker {
      const content = bytes.toString('utf8', NUMBER_BYTES);
      const end = content.indexOf(SEPARATOR);
      const ask: Ask = { ...modelOf(content.slice(0, end)), texts: [content.slice(end + 1)] };
      return { kind: 'question', number: bytes.readUInt32LE(0), name: 'embed', ask };
    },
  },
  fromWorker: {
    pack(message) {
      if (message.kind !== 'answer' || !message.reply.ok) return undefined;
      const { vectors } = message.reply.value as { readonly vectors?: readonly Float32Array[] };
      const [vector] = vectors ?? [];
      if (vector === undefined || vectors?.length !== 1) return undefined;
      const bytes = Buffer.allocUnsafe(NUMBER_BYTES + vector.byteLength);
      bytes.writeUInt32LE(message.number, 0);
      bytes.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), NUMBER_BYTES);
      return bytes;
    },
    unpack(bytes): FromWorker {
      const vector = new Float32Array(Uint8Array.prototype.slice.call(bytes, NUMBER_BYTES).buffer);
      return { kind: 'answer', number: bytes.readUInt32LE(0), reply: { ok: true, value: { vectors: [vector] } } };
    },
  },
};

function headOf(model: OnnxModel, tokensMax: number): string {
  const before = said.get(model);
  if (before?.tokensMax === tokensMax) return before.head;
  const head = JSON.stringify({ model, tokensMax } satisfies ModelAsked) + SEPARATOR;
  said.set(model, { tokensMax, head });
  return head;
}

function modelOf(head: string): ModelAsked {
  if (heard?.head !== head) heard = { head, asked: JSON.parse(head) as ModelAsked };
  return heard.asked;
}
