/**
 * The process's end of a `DirectLine`, for `serveHost`. The process must have been created with the same short forms.
 */
import { Socket } from 'node:net';
import { DIRECT_LINE_FD, DirectLine, type ShortForms } from './direct-line.js';
import type { FromWorker, ToWorker } from './protocol.js';
import type { LineOpener } from './serve-host.js';

export function directLine({ toWorker, fromWorker }: ShortForms): LineOpener {
  return (onMessage) => {
    const socket = new Socket({ fd: DIRECT_LINE_FD, readable: true, writable: true });
    // The channel alone decides how long the process stays alive.
    socket.unref();
    return new DirectLine<FromWorker, ToWorker>(socket, { said: fromWorker, heard: toWorker }, onMessage);
  };
}
