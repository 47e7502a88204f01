/**
 * What a process and its host say to each other through a pipe, in a form that is soon made and read: JSON, with bytes and vectors behind it as they lie in
 * memory. V8's own serialisation, and Node's channel for it, take a tenth of a millisecond more there and back.
 *
 *   u32 length of what follows · u32 length of the JSON · JSON of `[message, [[path, kind, bytes], …]]` · bytes, in their order
 */

/** What stands behind the JSON; anything else in a message is plain data. What is undefined is left out. */
const KINDS = { bytes: Uint8Array, vector: Float32Array } as const;

type Binary = Uint8Array | Float32Array;
type Path = readonly (string | number)[];
type Attachment = readonly [path: Path, kind: keyof typeof KINDS, bytes: number];

const NUMBER_BYTES = 4;
/** More is no message but what a damaged process wrote. */
const FRAME_BYTES_MAX = 2 ** 30;

export function frameOf(message: unknown): Buffer {
  const attachments: Attachment[] = [];
  const binaries: Binary[] = [];
  const plain = withoutBinaries(message, [], (path, binary) => {
    attachments.push([path, binary instanceof Float32Array ? 'vector' : 'bytes', binary.byteLength]);
    binaries.push(binary);
    return null;
  });
  const json = JSON.stringify([plain, attachments]);
  const jsonBytes = Buffer.byteLength(json);
  const bytes = binaries.reduce((sum, { byteLength }) => sum + byteLength, 2 * NUMBER_BYTES + jsonBytes);
  const frame = Buffer.allocUnsafe(bytes);
  frame.writeUInt32LE(bytes - NUMBER_BYTES, 0);
  frame.writeUInt32LE(jsonBytes, NUMBER_BYTES);
  let at = 2 * NUMBER_BYTES;
  at += frame.write(json, at);
  for (const { buffer, byteOffset, byteLength } of binaries) {
    frame.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return frame;
}

/** Throws where the bytes are no frame. */
function messageOf(frame: Buffer): unknown {
  const jsonBytes = frame.readUInt32LE(0);
  let at = NUMBER_BYTES + jsonBytes;
  const [message, attachments] = JSON.parse(frame.toString('utf8', NUMBER_BYTES, at)) as [unknown, Attachment[]];
  const root = { message };
  for (const [path, kind, bytes] of attachments) {
    // A copy: the buffer is written again, and vectors have to begin at a multiple of four.
    const copied = Uint8Array.prototype.slice.call(frame, at, at + bytes).buffer;
    at += bytes;
    putAt(root, ['message', ...path], new KINDS[kind](copied));
  }
  return root.message;
}

/** Gathers what comes from the pipe in whatever pieces. */
export class FrameReader {
  #kept: Buffer[] = [];
  #bytes = 0;
  /** Of which there is nothing whole before. */
  #wanted = NUMBER_BYTES;

  /** What has come whole. `chunk` may be written again afterwards. Throws where it is no part of a frame; nothing is to be read after that. */
  push(chunk: Buffer): readonly unknown[] {
    if (this.#bytes + chunk.length < this.#wanted) {
      this.#kept.push(Buffer.from(chunk));
      this.#bytes += chunk.length;
      return [];
    }
    const messages: unknown[] = [];
    let rest = this.#kept.length === 0 ? chunk : Buffer.concat([...this.#kept, chunk]);
    this.#kept = [];
    for (this.#bytes = 0, this.#wanted = NUMBER_BYTES; rest.length >= NUMBER_BYTES;) {
      const length = rest.readUInt32LE(0);
      if (length > FRAME_BYTES_MAX) throw new RangeError(`a message of ${length} bytes`);
      const end = NUMBER_BYTES + length;
      if (rest.length < end) {
        this.#wanted = end;
        break;
      }
      messages.push(messageOf(rest.subarray(NUMBER_BYTES, end)));
      rest = rest.subarray(end);
    }
    if (rest.length > 0) {
      this.#kept = [Buffer.from(rest)];
      this.#bytes = rest.length;
    }
    return messages;
  }
}

function withoutBinaries(value: unknown, path: Path, take: (path: Path, binary: Binary) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array || value instanceof Float32Array) return take(path, value);
  if (Array.isArray(value)) {
    // Texts, mostly.
    if (!value.some((each) => typeof each === 'object')) return value;
    return value.map((each, index) => withoutBinaries(each, [...path, index], take));
  }
  const plain: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) plain[name] = withoutBinaries(member, [...path, name], take);
  return plain;
}

function putAt(root: unknown, path: Path, value: Binary): void {
  let holder = root as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>;
  holder[path[path.length - 1] as string | number] = value;
}
