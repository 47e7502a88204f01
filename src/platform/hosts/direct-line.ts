/**
 * A second way between a host and its process: a pipe for messages that have a form shorter than the one that Node's channel gives to every message. What has none goes
 * by the channel, so the two are not in one order: only for messages that need none among others.
 */
import type { Socket } from 'node:net';
import type { FromWorker, ToWorker } from './protocol.js';

/** The short form of some messages. */
export interface ShortForm<Message> {
  /** Undefined of a message that has none. */
  pack(message: Message): Buffer | undefined;
  unpack(bytes: Buffer): Message;
}

/** Of what is said to a process, and of what it says. */
export interface ShortForms {
  readonly toWorker: ShortForm<ToWorker>;
  readonly fromWorker: ShortForm<FromWorker>;
}

/** Of a process, where it has one: behind its standard streams and Node's channel. */
export const DIRECT_LINE_FD = 4;

const LENGTH_BYTES = 4;

export class DirectLine<Said, Heard> {
  /** Of a message that came in pieces. */
  #begun: Buffer | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly forms: { readonly said: ShortForm<Said>; readonly heard: ShortForm<Heard> },
    private readonly onMessage: (message: Heard) => void,
  ) {
    socket.on('data', (bytes: Buffer) => {
      this.#hear(bytes);
    });
    // That the other is gone the channel tells.
    socket.on('error', () => undefined);
  }

  /** False where it has to be said by the channel. */
  say(message: Said): boolean {
    if (!this.socket.writable) return false;
    const packed = this.forms.said.pack(message);
    if (packed === undefined) return false;
    const bytes = Buffer.allocUnsafe(LENGTH_BYTES + packed.length);
    bytes.writeUInt32LE(packed.length, 0);
    packed.copy(bytes, LENGTH_BYTES);
    this.socket.write(bytes);
    return true;
  }

  #hear(bytes: Buffer): void {
    let left = this.#begun === undefined ? bytes : Buffer.concat([this.#begun, bytes]);
    while (left.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + left.readUInt32LE(0);
      if (left.length < end) break;
      const message = this.forms.heard.unpack(left.subarray(LENGTH_BYTES, end));
      left = left.subarray(end);
      this.onMessage(message);
    }
    this.#begun = left.length === 0 ? undefined : left;
  }
}
