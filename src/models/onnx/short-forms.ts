/**
 * What a search says to the process of its model, and what comes back, without anything that need not be read: the model as it was said before, one text, and
 * the numbers of one vector as they lie in memory. A search waits for every microsecond of it; everything else goes as it always does.
 */
import type { FromWorker, ShortForms, ToWorker } from '../../platform/hosts/index.js';
import type { OnnxModel, OnnxProtocol } from './onnx-protocol.js';

type Ask = OnnxProtocol['questions']['embed']['ask'];
type ModelAsked = Omit<Ask, 'texts'>;

const NUMBER_BYTES = 4;
/** Behind the model, whose JSON has none. */
const SEPARATOR = '\n';

/** As the process has to be told which model it is. */
const said = new WeakMap<OnnxModel, { readonly tokensMax: number; readonly head: string }>();
/** What was heard last: searches ask one model many times. */
let heard: { readonly head: string; readonly asked: ModelAsked } | undefined;

export const shortForms: ShortForms = {
  toWorker: {
    pack(message) {
      if (message.kind !== 'question' || message.name !== 'embed') return undefined;
      const { model, tokensMax, texts } = message.ask as Ask;
      const [text] = texts;
      // Of half a character there is no UTF-8.
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
