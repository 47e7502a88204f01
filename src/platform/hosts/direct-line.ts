/**
 * A pipe between a host and its process, in addition to Node's channel, for messages that have a shorter form than the
 * channel gives to every message. Messages without a short form go over the channel. The two are not ordered with
 * respect to each other, so the line is only for messages whose order does not matter.
 */
import type { Socket } from 'node:net';
import type { FromWorker, ToWorker } from './protocol.js';

/** Encoder and decoder of the messages that have a short form. */
export interface ShortForm<Message> {
  /** Returns undefined if the message has no short form. */
  pack(message: Message): Buffer | undefined;
  unpack(bytes: Buffer): Message;
}

/** Short forms of the messages to a process and from it. */
export interface ShortForms {
  readonly toWorker: ShortForm<ToWorker>;
  readonly fromWorker: ShortForm<FromWorker>;
}

/** File descriptor of the line in the process: after the standard streams and Node's channel. */
export const DIRECT_LINE_FD = 4;

const LENGTH_BYTES = 4;

export class DirectLine<Said, Heard> {
  /** Received bytes of an incomplete message. */
  #begun: Buffer | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly forms: { readonly said: ShortForm<Said>; readonly heard: ShortForm<Heard> },
    private readonly onMessage: (message: Heard) => void,
  ) {
    socket.on('data', (bytes: Buffer) => {
      this.#hear(bytes);
    });
    // The channel reports that the other end is gone.
    socket.on('error', () => undefined);
  }

  /** Sends the message; returns false if it has to go over the channel. */
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
